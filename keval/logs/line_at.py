"""Reads single lines of a log by where they begin: the samples of a log need not fit into memory."""

from __future__ import annotations

from pathlib import Path

from keval.documents import strict_json
from keval.errors import InputError
from keval.ids import JsonObject
from keval.logs.addresses import name_of


def event_at(log: Path, offset: int) -> JsonObject:
    """Return the event in the line of a log that begins at a byte. Raises InputError if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(offset)
            found: JsonObject = strict_json.parse(file.readline())
    except (OSError, strict_json.NotStrictError) as error:
        raise InputError(
            f"{name_of(log)}: the line at byte {offset} was changed while the log was read: {error}"
        ) from error
    return found


def record_at(log: Path, offset: int) -> JsonObject:
    """Return the sample in the line of a log that begins at a byte."""
    sample: JsonObject = event_at(log, offset)["sample"]
    return sample
