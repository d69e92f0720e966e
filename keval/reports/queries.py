"""Asks the views what a report is made of: each question is an SQL file in this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def ask(connection: DuckDBPyConnection, name: str) -> Iterator[JsonObject]:
    """Yield the rows that `<name>.sql` finds, columns by name."""
    return rows(connection, load("reports", name))


def by_condition(connection: DuckDBPyConnection, name: str) -> dict[tuple[str, str], list[JsonObject]]:
    """Return what `<name>.sql` finds by the ids of condition and agent, which it has to have as columns."""
    found: dict[tuple[str, str], list[JsonObject]] = {}
    for row in ask(connection, name):
        found.setdefault((row["condition_id"], row["agent_id"]), []).append(row)
    return found
