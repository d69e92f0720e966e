"""Turns whatever DuckDB finds into JSON: each of its types has one form, in every format and at every depth."""

from __future__ import annotations

import datetime as dt
from typing import Any

import orjson

from keval.errors import UsageError

SMALLEST, LARGEST = -(2**63), 2**64 - 1
"""Integers beyond these few readers of JSON keep, so they become text."""


def json_value(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a value in which everything that JSON has no form for is text.

    Dates and times are in ISO format, bytes as DuckDB shows them, keys of maps are text. NaN and infinity are left:
    JSON writes them as null.
    """
    if isinstance(value, dict):
        return {_key(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, int) and SMALLEST <= value <= LARGEST:
        return value
    if value is None or isinstance(value, float):
        return value
    return _text(value)


def json_text(value: Any, option: int = 0) -> bytes:  # noqa: ANN401 - any SQL value
    """Return any SQL value as JSON, with options of orjson. Raises UsageError if it is nested too deep."""
    try:
        return orjson.dumps(json_value(value), option=option)
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise UsageError("a value is nested too deep for JSON; cast it to VARCHAR, or unnest it") from error


def _key(key: Any) -> str:  # noqa: ANN401 - any SQL value
    found = json_value(key)
    return found if isinstance(found, str) else orjson.dumps(found).decode()


def _text(value: object) -> str:
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return "".join(_shown(byte) for byte in value)
    return str(value)


def _shown(byte: int) -> str:
    character = chr(byte)
    return character if character.isascii() and character.isprintable() and character != "\\" else f"\\x{byte:02X}"
