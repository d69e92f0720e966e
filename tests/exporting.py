"""Writes the events of a test in a format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from keval import projections
from keval.formats import Format, Source
from keval.ids import JsonObject
from keval.reports import builder


def exported(made: Format, events: Sequence[JsonObject], folder: Path, *, everything: bool = False) -> list[Path]:
    """Return the files that a format writes of a log into a folder that is not there yet."""
    folder.mkdir()
    log = folder.parent / "log.jsonl"
    log.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in events))
    with projections.connect([log], everything=everything) as connection:
        return list(made.write(Source(connection, builder.compose(connection), "1.2.3"), folder))
