"""Which values of a parametrized test belong to the fast suite: some of each kind, and the slow suite has them all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

Value = TypeVar("Value")


def slow_but(values: Iterable[Value], fast: Collection[Value]) -> list[Value | ParameterSet]:
    """Return the values of a test, of which it runs with only these few in the fast suite."""
    found = list(values)
    assert set(fast) <= set(found), f"{set(fast) - set(found)}: no value of the test"
    return [value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in found]
