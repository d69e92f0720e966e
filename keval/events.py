"""Makes events and turns them into lines.

An event is a plain JSON object; its fields are those of `schemas/<type>.schema.json`, which are
the source of truth. Every event gets its envelope here, and is checked before it is written.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from keval import schema
from keval.documents import strict_json
from keval.errors import KevalError
from keval.ids import JsonObject, digest

VERSION = 1
"""The version of the event format, `v` in every event."""


class InvalidEventError(KevalError):
    """An event cannot be a line of a log; the message says why."""


def now() -> str:
    """Return the time as events write it: RFC 3339, UTC, milliseconds."""
    return _written(time.time_ns() // 1_000_000)


@lru_cache(maxsize=1)
def _written(since_1970: int) -> str:
    """Return a time in milliseconds as events write it; the last one is kept, since many events share it."""
    second, milliseconds = divmod(since_1970, 1000)
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{milliseconds:03d}Z", time.gmtime(second))


def new_run_id() -> str:
    """Return a fresh id for one call of one command."""
    return secrets.token_hex(8)


def envelope(event_type: str, event_id: str, run_id: str) -> JsonObject:
    """Return what every event begins with."""
    return {"type": event_type, "v": VERSION, "id": event_id, "time": now(), "run_id": run_id}


def event(event_type: str, event_id: str, run_id: str, **fields: object) -> JsonObject:
    """Return an event with its envelope first."""
    return envelope(event_type, event_id, run_id) | fields


def failure_id(target: str, run_id: str) -> str:
    """Return the id of a failure: `target` (a response's or judgment's id) failed in this run."""
    return digest("failure", target, run_id)


def encode(event_: JsonObject) -> bytes:
    """Return an event as a line with its newline, checked against its schema; see `written`."""
    return written(event_)[1]


def written(
    event_: JsonObject, problem_of: Callable[[JsonObject], str | None] = schema.event_problem
) -> tuple[JsonObject, bytes]:
    """Return an event as a log holds it, and its line with its newline, checked against its schema.

    Lone surrogates, which JSON text from outside may smuggle in and UTF-8 cannot hold, become
    U+FFFD. Raises InvalidEventError for an event that its schema refuses or that no JSON can hold.
    `problem_of` asks the schema, as `event_lines.checker` does for many events.
    """
    try:
        line = orjson.dumps(event_, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        event_, line = _written_anyway(event_)
    problem = problem_of(event_)
    if problem:
        raise InvalidEventError(f"a {event_.get('type')} event breaks its schema: {problem}")
    return event_, line


def can_hold(value: object) -> bool:
    """Return whether an event can hold a value from outside, such as a tool's input."""
    if strict_json.is_deeper(value, strict_json.DEEPEST_VALUE):
        return False
    try:
        orjson.dumps(_without_surrogates(value))
    except TypeError:
        return False
    return True


def _written_anyway(event_: Mapping[str, Any]) -> tuple[JsonObject, bytes]:
    """Return an event without lone surrogates, and its line. Raises InvalidEventError."""
    if strict_json.is_deeper(event_, strict_json.DEEPEST_LINE):
        raise InvalidEventError(f"a {event_.get('type')} event is nested deeper than {strict_json.DEEPEST_LINE} levels")
    clean: JsonObject = _without_surrogates(event_)
    try:
        return clean, orjson.dumps(clean, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise InvalidEventError(f"a {event_.get('type')} event is no JSON: {error}") from error


def _without_surrogates(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in value)
    if isinstance(value, Mapping):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value


class EncodedEvent(NamedTuple):
    """An item's event: checked and encoded once."""

    event: JsonObject
    """The event as the log has it."""
    line: bytes
    unredacted: JsonObject
    """The event with the values of secrets in it."""
