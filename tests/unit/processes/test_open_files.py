"""Properties of the limit of open files."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from keval.processes import open_files


@pytest.fixture(autouse=True)
def limits() -> Iterator[tuple[int, int]]:
    """Set a limit of 300 files that may be raised, and restore what was."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, before[1]))
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_limit_is_raised_as_far_as_needed() -> None:
    """It is raised for many files, and never lowered for few."""
    open_files.allow(100)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 100 + open_files.OTHERS
    open_files.allow(1)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 100 + open_files.OTHERS


def test_the_limit_is_never_above_what_the_system_lets_it_be(limits: tuple[int, int]) -> None:
    """More files than the hard limit are asked for without an error: whoever opens too many says so."""
    open_files.allow(2**60)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= limits[1] or limits[1] == resource.RLIM_INFINITY
