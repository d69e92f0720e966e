"""Parts of a section are read whether or not its schema accepts it."""

from __future__ import annotations

import pytest

from keval.config.sections import list_in, mapping_in


@pytest.mark.parametrize("value", [None, 1, "text", True])
def test_what_is_of_the_wrong_kind_is_as_if_it_were_not_there(value: object) -> None:
    """Its schema says what is wrong with it; who reads on finds nothing."""
    assert (mapping_in({"a": value}, "a"), list_in({"a": value}, "a")) == ({}, [])
    assert (mapping_in({}, "a"), list_in({}, "a")) == ({}, [])
    assert (mapping_in({"a": {"b": value}}, "a"), list_in({"a": [value]}, "a")) == ({"b": value}, [value])
