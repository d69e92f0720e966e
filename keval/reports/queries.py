"""Asks the views what a report is made of: each query is an SQL file, in this folder unless another is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING

from keval import projections
from keval.ids import JsonObject
from keval.processes.beside import Beside, taken
from keval.projections.sql_file import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = list[JsonObject]


def ask(
    connection: DuckDBPyConnection, name: str, folder: str = "reports", /, **parameters: str
) -> Iterator[JsonObject]:
    """Yield the rows that `<folder>/<name>.sql` finds, columns by name."""
    return projections.rows(connection, query(name, folder, **parameters))


def query(name: str, folder: str = "reports", /, **parameters: str) -> str:
    """Return the query of `<folder>/<name>.sql`."""
    return load(folder, name, **parameters)


class Ahead:
    """Queries that another thread asks on a cursor of its own, from the last one on, as long as nobody else does."""

    def __init__(self, cursor: DuckDBPyConnection, queries: Iterable[str]) -> None:
        self._cursor = cursor
        self._waiting = dict.fromkeys(queries, True)
        self._asked = set(self._waiting)
        self._found: SimpleQueue[tuple[str, Rows | Exception]] = SimpleQueue()
        self._known: dict[str, Rows | Exception] = {}
        self._thread = Beside(self._ask_all)

    def begin(self) -> None:
        """Let the thread ask."""
        self._thread.begin()

    def rows(self, sql: str) -> Rows | None:
        """Return what the thread finds; None for a query that it has not begun, and now will not."""
        if sql not in self._asked or self._waiting.pop(sql, False):  # of two threads one alone gets it
            return None
        while sql not in self._known:
            query, found = taken(self._found)
            self._known[query] = found
        found = self._known[sql]
        if isinstance(found, Exception):
            raise found
        return found

    def leave(self) -> None:
        """Break off what is being asked, and wait for the thread."""
        self._waiting.clear()  # first, else the thread would begin the next query
        self._cursor.interrupt()
        self._thread.end()

    def _ask_all(self) -> None:
        for sql in reversed(list(self._waiting)):
            if self._waiting.pop(sql, False):
                self._found.put((sql, self._ask(sql)))

    def _ask(self, sql: str) -> Rows | Exception:
        """Return the rows of a query that runs on the cursor itself, so that this can interrupt it."""
        try:
            names, found = projections.columns_and_rows(self._cursor, sql)
            return [dict(zip(names, row, strict=True)) for row in found]
        except Exception as error:  # noqa: BLE001 - it is raised where the rows are asked for
            return error


class Queries:
    """Asks queries of the logs that a connection has views of, each once: a report needs some rows in many places."""

    def __init__(self, connection: DuckDBPyConnection, ahead: Ahead | None = None) -> None:
        self.connection = connection
        self._ahead = ahead
        self._found: dict[str, Rows] = {}

    def ask(self, name: str, folder: str = "reports", /, **parameters: str) -> Rows:
        """Return the rows that `<folder>/<name>.sql` finds, columns by name; they are not to be changed."""
        sql = query(name, folder, **parameters)
        if sql not in self._found:
            found = None if self._ahead is None else self._ahead.rows(sql)
            self._found[sql] = list(projections.rows(self.connection, sql)) if found is None else found
        return self._found[sql]


@contextmanager
def asked_ahead(connection: DuckDBPyConnection, queries: Iterable[str]) -> Iterator[Queries]:
    """Give queries of which these are asked by a second thread meanwhile, the last one first.

    The block asks them in their order, so both meet in the middle: DuckDB takes one processor for a small query. What
    it did not ask for is broken off at its end.
    """
    with connection.cursor() as cursor:
        ahead = Ahead(cursor, queries)
        try:
            ahead.begin()
            yield Queries(connection, ahead)
        finally:
            ahead.leave()


def by_condition(rows: Iterable[JsonObject]) -> dict[tuple[str, str], Rows]:
    """Return rows by the ids of condition and agent, which they have to have as columns."""
    found: dict[tuple[str, str], Rows] = {}
    for row in rows:
        found.setdefault((row["condition_id"], row["agent_id"]), []).append(row)
    return found
