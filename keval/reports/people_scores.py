"""Puts the scores that people gave where queries of reports and of labels find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keval.projections.sql_file import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def make_table(connection: DuckDBPyConnection) -> None:
    """Make the table `session.people_scores`, of the labels that a connection has views of."""
    given = load("reports", "people_scores")
    connection.execute(f"create or replace table session.people_scores as {given}")
