"""Reads JSON that others wrote, and says what in a value no event can hold as it is.

What is not strictly JSON (a key twice, `NaN`, an integer beyond 64 bits) does not end the reading. It stays in the
value, so that it is a problem of its record alone.
"""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

from keval.documents.strict_json import DEEPEST_VALUE, is_deeper, repeated_key
from keval.ids import JsonObject
from keval.json_text import LARGEST_INT, SMALLEST_INT


class _Flaw:
    """Stands in a parsed value for something that JSON, or an id made from it, cannot hold."""

    def __init__(self, message: str) -> None:
        self.message = message


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Flaw:
    record = dict(pairs)
    if len(record) == len(pairs):
        return record
    return _Flaw(f"the key {repeated_key(pairs)!r} appears twice in one object")


def _integer(text: str) -> int | _Flaw:
    # Longer digits are not even converted: Python limits that.
    number = int(text) if len(text) <= len(str(SMALLEST_INT)) else LARGEST_INT + 1
    return number if SMALLEST_INT <= number <= LARGEST_INT else _Flaw("an integer beyond 64 bits; write it as a string")


def _number(text: str) -> float | _Flaw:
    number = float(text)
    return number if math.isfinite(number) else _Flaw(f"{text} is beyond what a number can hold; write it as a string")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_number,
    parse_constant=lambda name: _Flaw(f"{name} is not JSON"),
)


def parse_json(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text; what is not strictly JSON in it is found by `not_json`.

    Raises json.JSONDecodeError for a syntax error.
    """
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, 0) from None


def unfit(record: JsonObject) -> str | None:
    """Return why no event can hold a record, or None."""
    return f"nested deeper than {DEEPEST_VALUE} levels" if is_deeper(record, DEEPEST_VALUE) else not_json(record)


def not_json(value: object) -> str | None:
    """Return what in a value cannot be written as JSON and read back the same, or None."""

    def refuse(unknown: object) -> None:
        raise TypeError(unknown.message if isinstance(unknown, _Flaw) else f"{type(unknown).__name__} is not JSON")

    try:
        orjson.dumps(value, default=refuse, option=orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS)
    except TypeError as error:
        if isinstance(error.__cause__, TypeError):
            return str(error.__cause__)
        return "text that is not UTF-8" if "UTF-8" in str(error) else str(error)
    return None
