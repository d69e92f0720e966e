"""Reads single lines of a log by where they begin: the samples of a log need not fit into memory."""

from __future__ import annotations

from pathlib import Path

from keval.documents import strict_json
from keval.errors import InputError
from keval.ids import JsonObject
from keval.logs.addresses import name_of


def event_at(log: Path, offset: int, event_type: str | None = None) -> JsonObject:
    """Return the event in the line of a log that begins at a byte. Raises InputError if there is none of the type."""
    try:
        with log.open("rb") as file:
            file.seek(offset)
            found = strict_json.parse(file.readline())
    except (OSError, strict_json.NotStrictError) as error:
        raise _changed(log, offset, str(error)) from error
    if not isinstance(found, dict) or (event_type is not None and found.get("type") != event_type):
        raise _changed(log, offset, f"it is no {event_type or 'event'}")
    return found


def record_at(log: Path, offset: int) -> JsonObject:
    """Return the sample in the line of a log that begins at a byte. Raises InputError if it has none."""
    sample = event_at(log, offset).get("sample")
    if not isinstance(sample, dict):
        raise _changed(log, offset, "it has no sample")
    return sample


def _changed(log: Path, offset: int, problem: str) -> InputError:
    return InputError(f"{name_of(log)}: the line at byte {offset} was changed while the log was read: {problem}")
