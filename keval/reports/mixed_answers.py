"""Finds answers that have equal ids and were made by different things: another model, another Claude Code.

Their mean would be a number of nobody. What an id keeps apart, such as another prompt, needs no look here.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from keval.errors import InputError
from keval.ids import JsonObject
from keval.reports.model import ReportWarning
from keval.reports.queries import Queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from duckdb import DuckDBPyConnection

READ = ("conditions", "answering_models", "run_facts")
"""The tables and views that are asked."""

WAY_OUT = (
    "--allow-mixed takes them all the same, with a warning; `keval generate CONFIG -o LOG --fresh` asks for all again"
)


def mixed(queries: Queries) -> list[str]:
    """Return what differs between answers that count as one agent's, a sentence for each thing."""
    return [
        _sentence(rows) for _, rows in groupby(queries.ask("mixed_answers"), lambda row: (row["agent_id"], row["what"]))
    ]


def refuse_mixed(connection: DuckDBPyConnection, *, allow: bool = False, log: str | None = None) -> list[str]:
    """Return what differs if that is allowed; else raise InputError, so that it becomes no number and no difference.

    `log` is named in the error, where there are several.
    """
    found = mixed(Queries(connection))
    if found and not allow:
        raise InputError(*(sentence if log is None else f"{log}: {sentence}" for sentence in found), WAY_OUT)
    return found


def warnings(queries: Queries) -> Iterator[ReportWarning]:
    """Yield what must be read before any number: that they are of more than one agent."""
    return (ReportWarning("mixed", sentence) for sentence in mixed(queries))


def _sentence(found: Iterable[JsonObject]) -> str:
    parts = groupby(found, lambda row: row["condition"])
    told = "; ".join(f"{condition}: {', '.join(_counted(rows))}" for condition, rows in parts)
    return f"MIXED: the answers are not all by the same agent: {told}"


def _counted(rows: Iterable[JsonObject]) -> Iterator[str]:
    """Yield how many answers each model or version made; the first one says that it is answers."""
    for place, row in enumerate(rows):
        made = row["value"] if row["what"] == "model" else f"{row['what']} {row['value']}"
        answers = " answer" if row["answers"] == 1 else " answers"
        yield f"{row['answers']}{'' if place else answers} by {made}"
