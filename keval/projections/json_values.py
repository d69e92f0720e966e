"""Turns whatever DuckDB finds into JSON: each of its types has one form, in every format and at every depth."""

from __future__ import annotations

import datetime as dt
from typing import Any

import orjson

from keval.errors import UsageError
from keval.json_text import LARGEST_INT, SMALLEST_INT


def json_value(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a value in which everything that JSON has no form for is text.

    Dates and times are in ISO format, bytes as DuckDB shows them, keys of maps are text. NaN and infinity are left:
    JSON writes them as null.
    """
    if isinstance(value, orjson.Fragment):
        return value
    if isinstance(value, dict):
        return {_key(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, int) and SMALLEST_INT <= value <= LARGEST_INT:  # few readers of JSON keep others
        return value
    if value is None or isinstance(value, float):
        return value
    return _text(value)


def with_json(value: Any, kind: Any) -> Any:  # noqa: ANN401 - any SQL value, of a type as DuckDB describes it
    """Return a value in which what is of DuckDB's type JSON, at any depth, is JSON and no longer the text of it.

    It is kept to the last digit. What DuckDB takes for JSON and JSON does not, such as NaN, stays text.
    """
    if value is None or "JSON" not in str(kind):
        return value
    if str(kind) == "JSON":
        return _fragment(value)
    parts = dict(kind.children)
    if kind.id == "struct":
        return {name: with_json(item, parts[name]) for name, item in value.items()}
    if kind.id == "map":
        return {key: with_json(item, parts["value"]) for key, item in value.items()}
    if kind.id in {"list", "array"}:
        return [with_json(item, parts["child"]) for item in value]
    return value


def _fragment(text: str) -> Any:  # noqa: ANN401 - a fragment, or the text itself
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return orjson.Fragment(text)


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
