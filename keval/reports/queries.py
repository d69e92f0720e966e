"""Asks the views what a report is made of: each query is an SQL file in this folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from keval import projections
from keval.ids import JsonObject
from keval.projections.sql_file import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = list[JsonObject]


def ask(connection: DuckDBPyConnection, name: str) -> Iterator[JsonObject]:
    """Yield the rows that `<name>.sql` finds, columns by name."""
    return projections.rows(connection, query(name))


def query(name: str, **parameters: str) -> str:
    """Return the query of `<name>.sql`."""
    return load("reports", name, **parameters)


class Queries:
    """Asks queries of the logs that a connection has views of, each once: a report needs some rows in many places."""

    def __init__(self, connection: DuckDBPyConnection, ahead: Mapping[str, Future[Rows]] | None = None) -> None:
        """Ask the connection; `ahead` are queries that another thread asks, but for those that it has not begun."""
        self.connection = connection
        self._ahead = ahead or {}
        self._found: dict[str, Rows] = {}

    def ask(self, name: str, **parameters: str) -> Rows:
        """Return the rows that `<name>.sql` finds, columns by name; they are not to be changed."""
        sql = query(name, **parameters)
        if sql not in self._found:
            ahead = self._ahead.get(sql)
            if ahead is None or ahead.cancel():
                self._found[sql] = list(projections.rows(self.connection, sql))
            else:
                self._found[sql] = ahead.result()
        return self._found[sql]


@contextmanager
def asked_ahead(connection: DuckDBPyConnection, queries: Iterable[str]) -> Iterator[Queries]:
    """Give queries of which these are asked by a second thread meanwhile, the last one first.

    The block asks them in their order, so both meet in the middle: DuckDB takes one processor for a small query. What
    it did not ask for is broken off at its end.
    """
    with connection.cursor() as cursor, ThreadPoolExecutor(max_workers=1) as thread:
        last_first = reversed(list(queries))
        ahead = {sql: thread.submit(_rows_on, cursor, sql) for sql in last_first}
        try:
            yield Queries(connection, ahead)
        finally:
            thread.shutdown(wait=False, cancel_futures=True)  # first, else the thread would begin the next query
            cursor.interrupt()


def _rows_on(cursor: DuckDBPyConnection, sql: str) -> Rows:
    """Return the rows of a query that runs on the cursor itself, so that this can interrupt it."""
    names, found = projections.columns_and_rows(cursor, sql)
    return [dict(zip(names, row, strict=True)) for row in found]


def by_condition(rows: Iterable[JsonObject]) -> dict[tuple[str, str], Rows]:
    """Return rows by the ids of condition and agent, which they have to have as columns."""
    found: dict[tuple[str, str], Rows] = {}
    for row in rows:
        found.setdefault((row["condition_id"], row["agent_id"]), []).append(row)
    return found
