"""What others wrote as JSON is either kept as it is, or named with what is wrong with it."""

from __future__ import annotations

import json

import pytest

from keval.documents.foreign_json import not_json, parse_json, unfit
from keval.documents.strict_json import DEEPEST_VALUE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' appears twice in one object"),
        ('{"a": [18446744073709551616]}', "an integer beyond 64 bits; write it as a string"),
        ('{"a": -9223372036854775809}', "an integer beyond 64 bits; write it as a string"),
        ('{"a": 1e999}', "1e999 is beyond what a number can hold; write it as a string"),
        ('{"a": NaN}', "NaN is not JSON"),
        (r'{"a": "\ud800"}', "text that is not UTF-8"),
    ],
)
def test_what_no_event_can_hold_is_named(text: str, problem: str) -> None:
    """It is read all the same, so that the records after it are read, too."""
    assert not_json(parse_json(text)) == problem


@pytest.mark.parametrize("text", ["18446744073709551615", "-9223372036854775808", "1.5e3", '{"a": [null, true, ""]}'])
def test_what_an_event_can_hold_is_read_as_it_is(text: str) -> None:
    """Also the largest and the smallest integer of 64 bits."""
    assert parse_json(text) == json.loads(text)
    assert not_json(parse_json(text)) is None


def test_an_event_has_room_for_so_many_levels_and_no_more() -> None:
    """Beyond that a value is a problem of its record; what Python cannot parse at all is an error of syntax."""
    assert unfit(nested(DEEPEST_VALUE)) is None
    assert unfit(nested(DEEPEST_VALUE + 1)) == f"nested deeper than {DEEPEST_VALUE} levels"
    with pytest.raises(json.JSONDecodeError, match="nested too deeply"):
        parse_json("[" * 1_000_000)


def nested(levels: int) -> dict[str, object]:
    """Return an object with so many levels of objects."""
    record: dict[str, object] = {}
    for _ in range(levels - 1):
        record = {"a": record}
    return record
