"""Finds what was taken back, and why: a number that is not there needs a reason as much as one that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from keval.projections.line_text import descriptors_of, line_in
from keval.reports.model import Retraction
from keval.reports.queries import ask

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from keval.projections.log_file import LogFile


def retractions(connection: DuckDBPyConnection, logs: Sequence[LogFile]) -> tuple[Retraction, ...]:
    """Return what of these logs is taken back: events of one type, for one reason, by one person together.

    What is most stands first; the order of lines does not matter.
    """
    found: Counter[tuple[str, str | None, str | None]] = Counter()
    with descriptors_of(logs) as descriptors:
        for row in ask(connection, "retractions"):
            line = orjson.loads(line_in(descriptors[row["file"] - 1], row["line_offset"]))
            found[row["type"], line["reason"], line["author"]] += 1
    made = (Retraction(type_, events, reason, author) for (type_, reason, author), events in found.items())
    return tuple(sorted(made, key=lambda each: (-each.events, each.type, each.reason or "", each.author or "")))
