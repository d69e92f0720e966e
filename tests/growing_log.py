"""Reads a log while a command writes to it."""

from __future__ import annotations

from pathlib import Path

import orjson

from keval.ids import JsonObject


def events_so_far(log: Path, *types: str) -> list[JsonObject]:
    """Return the events of these types in a log's finished lines; none if there is no log yet.

    What follows the last line break is left out: it may be half a line whose end is still to be written.
    """
    finished = log.read_bytes().rpartition(b"\n")[0] if log.exists() else b""
    return [each for line in finished.splitlines() if (each := orjson.loads(line))["type"] in types]
