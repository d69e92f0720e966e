"""Asks the views what a report is made of: each question is an SQL file in this folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from keval import projections
from keval.ids import JsonObject
from keval.projections.sql_file import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def ask(connection: DuckDBPyConnection, name: str) -> Iterator[JsonObject]:
    """Yield the rows that `<name>.sql` finds, columns by name."""
    return projections.rows(connection, load("reports", name))


def by_condition(rows: Iterable[JsonObject]) -> dict[tuple[str, str], list[JsonObject]]:
    """Return rows by the ids of condition and agent, which they have to have as columns."""
    found: dict[tuple[str, str], list[JsonObject]] = {}
    for row in rows:
        found.setdefault((row["condition_id"], row["agent_id"]), []).append(row)
    return found
