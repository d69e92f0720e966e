from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.documents.strict_json import DEEPEST_LINE, NotJsonError, NotStrictError, is_deeper, parse, repeated_key

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels + b"\n"


def problem(raw: bytes) -> str:
    with pytest.raises(NotStrictError) as error:
        parse(raw)
    return str(error.value)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_strict_json_is_read_however_it_is_written(value: Any, ascii_only: bool, indent: int | None) -> None:  # noqa: ANN401 - any JSON value
    """Spaces, escapes and ways to write a number are no reason to refuse a line; the value is that of orjson."""
    written = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert parse(written) == orjson.loads(written)


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=3), VALUES, st.booleans())
def test_a_key_that_stands_twice_is_refused_wherever_it_is(record: dict[str, Any], other: Any, spaced: bool) -> None:  # noqa: ANN401 - any JSON value
    """No object at any depth has a key twice, however the line is written and whatever the values are."""
    key = next(iter(record))
    doubled = orjson.dumps(record)[:-1] + b"," + orjson.dumps(key) + b":" + orjson.dumps(other) + b"}"
    line = b'{"a":[1,' + (b" " if spaced else b"") + doubled + b"]}\n"
    assert problem(line) == f"$.a[1]: the key {key!r} stands twice"


def test_a_repeated_key_that_another_one_hides_is_found() -> None:
    """The outer of two is named, even where the inner one stands in a value that a reader would drop."""
    assert problem(b'{"a":{"b":1,"b":2},"a":{}}') == "$: the key 'a' stands twice"


class _Counting(str):
    """A key that counts how often it is held against another."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        _Counting.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_repeated_key_is_found_in_one_pass() -> None:
    """An object of many keys is no work of a day: none is held against all others."""
    keys = [_Counting(number) for number in range(1000)]
    assert repeated_key((key, None) for key in [*keys, _Counting(999), _Counting(998)]) == "998"
    assert _Counting.compared < 10


def test_of_a_long_repeated_key_the_beginning_is_told() -> None:
    """A key may have millions of characters, and nobody reads a message of them."""
    key = b'"' + b"k" * 1_000_000 + b'"'
    told = problem(b"{" + key + b":1," + key + b":2}")
    assert told.startswith("$: the key 'kkk")
    assert len(told) < 150


def test_keys_that_are_escaped_differently_are_the_same() -> None:
    """A key counts as it is read, not as it is written."""
    assert problem(rb'{"a":1,"\u0061":2}') == "$: the key 'a' stands twice"


def test_the_deepest_line_is_the_deepest_that_can_be_written() -> None:
    """What can be read can be written again, and one level more can be neither."""
    value = parse(nested(DEEPEST_LINE))
    assert orjson.dumps(value) + b"\n" == nested(DEEPEST_LINE)
    for levels in (DEEPEST_LINE + 1, 1000):
        assert problem(nested(levels)) == f"$: nested deeper than {DEEPEST_LINE} levels"


@pytest.mark.parametrize("raw", [b'{"a":', b"NaN", b'{"a":1} {}', nested(5000), b'"\xff"', rb'"\ud800"', b"1e999"])
def test_what_is_no_json_is_told_apart(raw: bytes) -> None:
    """A text that may be cut off is another mistake than one that readers read differently."""
    with pytest.raises(NotJsonError, match=r"^\$: not JSON: "):
        parse(raw)


@pytest.mark.parametrize("levels", [1, 3, 400])
def test_levels_are_counted_without_recursion(levels: int) -> None:
    """An empty array is one level, and depth costs no stack."""
    value = orjson.loads(nested(levels))
    assert not is_deeper(value, levels)
    assert is_deeper(value, levels - 1)
    assert not is_deeper("text", 0)
