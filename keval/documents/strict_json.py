"""Reads the JSON of one line so that no two readers of it can disagree.

JSON leaves open what a key that stands twice means: one reader takes the first value, another the
last. And it sets no limit to nesting, while most readers have one, each another.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from keval.json_text import loads
from keval.schema import LONGEST_VALUE, json_path
from keval.secrets.excerpts import beginning_of

DEEPEST_LINE = 254
"""Levels of objects and arrays in a line: as many as orjson writes, so that what is read can also be written."""

DEEPEST_VALUE = 200
"""Levels of a value from outside, such as a sample or a tool's input: an event has room for it and more around it."""


class NotStrictError(ValueError):
    """A text is no JSON, or is JSON that readers read differently; the message is `$.path: what is wrong`."""


class NotJsonError(NotStrictError):
    """A text is no JSON, perhaps because it is cut off."""


def parse(raw: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a line of JSON. Raises NotStrictError."""
    try:
        value = loads(raw)
    except orjson.JSONDecodeError as error:
        raise NotJsonError(f"$: not JSON: {error}") from None
    try:
        again = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        raise NotStrictError(f"$: nested deeper than {DEEPEST_LINE} levels") from None
    # A line that is written again as it was has no key twice, because the value has each key once.
    if again != raw:
        _refuse_repeats(raw)
    return value


def is_deeper(value: object, levels: int) -> bool:
    """Return whether a JSON value has more levels of objects and arrays than that."""
    row = [value]
    for _ in range(levels + 1):
        nested = [each for each in row if isinstance(each, dict | list)]
        if not nested:
            return False
        row = [item for each in nested for item in (each.values() if isinstance(each, dict) else each)]
    return True


def repeated_key(pairs: Iterable[tuple[str, object]]) -> str:
    """Return the first key that stands twice among the members of an object, one of which does."""
    return next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)


class _Repeats:
    """Stands in a parsed value for an object that has a key twice."""

    def __init__(self, key: str) -> None:
        self.key = key


def _refuse_repeats(raw: bytes) -> None:
    """Raise NotStrictError for the first object of a JSON text that has a key twice."""
    found: list[_Repeats] = []

    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Repeats:
        record = dict(pairs)
        if len(record) == len(pairs):
            return record
        found.append(_Repeats(repeated_key(pairs)))
        return found[-1]

    # Numbers are orjson's business: Python refuses integers of many digits.
    value = json.loads(raw.decode(), object_pairs_hook=checked, parse_int=str, parse_float=str)
    if found:
        keys, key = next(_located(value, ()))
        raise NotStrictError(f"{json_path(keys)}: the key {beginning_of(key, LONGEST_VALUE)!r} stands twice")


def _located(value: object, keys: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, _Repeats):
        yield keys, value.key
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _located(item, (*keys, key))
