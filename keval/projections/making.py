"""Makes tables and views, each after those that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from graphlib import TopologicalSorter
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from keval.processes.beside import Beside, taken
from keval.projections.sql_file import literal
from keval.projections.views import TEMPORARY, made, named_in_definition

if TYPE_CHECKING:
    import duckdb

    Ready = SimpleQueue[str | None]
    """Names of what can be made now; None: there are no more."""
    Done = SimpleQueue[tuple[str, Exception | None]]
    """Names of what was made, or why it was not."""

AT_ONCE = 2
"""Statements at once: of few rows DuckDB takes one processor for each, and most of the time to plan it."""

OPTIMIZER_OFF = "common_subplan"
"""DuckDB would keep in memory what two parts of a query have in common: it may be a row for each line of a log, with
all columns that any part needs, though most queries find few rows."""

SIDES_AS_WRITTEN = {"changed_samples", "score_facts", "sample_means", "is_separable"}
"""Tables for whose joins the right sides are held in memory, as they are written: DuckDB guesses that the left ones are
smaller, and they are millions of lines with many columns."""


def make(connection: duckdb.DuckDBPyConnection, queries: Mapping[str, str], kinds: Mapping[str, str]) -> None:
    """Make a table or a view of each query, as `kinds` says of its name; those that others read come before these.

    In memory two are made at once, each as soon as those are there that the definition of its name reads. In a file
    they are made in this order, one after the other, in one transaction: it has many rows, on which DuckDB uses all
    processors, and each transaction would wait for the disk.
    """
    ((is_in_memory,),) = connection.execute(
        "SELECT path IS NULL FROM duckdb_databases() WHERE database_name = current_database()"
    ).fetchall()
    if is_in_memory:
        _make_at_once(connection, {name: made(kinds[name], name, sql) for name, sql in queries.items()})
        return
    connection.begin()
    for name, sql in queries.items():
        kind = f"OR REPLACE TEMP {kinds[name]}" if name in TEMPORARY else kinds[name]
        statement = made(kind, name, sql)
        connection.execute(_with_sides_as_written(statement) if name in SIDES_AS_WRITTEN else statement)
    connection.commit()


def _with_sides_as_written(statement: str) -> str:
    """Return a statement that DuckDB runs with the sides of its joins as they are written."""
    off = f"{OPTIMIZER_OFF}, build_side_probe_side"
    return f"SET disabled_optimizers = '{off}';\n{statement}SET disabled_optimizers = '{OPTIMIZER_OFF}';\n"


def _make_at_once(connection: duckdb.DuckDBPyConnection, statements: Mapping[str, str]) -> None:
    # One of another query, such as a view over what is stored, reads nothing that its definition does not.
    waiting = TopologicalSorter({name: named_in_definition(name) & statements.keys() for name in statements})
    waiting.prepare()
    ((search_path,),) = connection.execute("SELECT current_setting('search_path')").fetchall()
    ready: Ready = SimpleQueue()
    done: Done = SimpleQueue()
    with ExitStack() as open_:
        cursors = [open_.enter_context(connection.cursor()) for _ in range(AT_ONCE)]
        for cursor in cursors:
            cursor.execute(f"SET search_path = {literal(search_path)}")
        threads = [Beside(partial(_work, cursor, statements, ready, done)) for cursor in cursors]
        try:
            for thread in threads:
                thread.begin()
            while waiting.is_active():
                for name in waiting.get_ready():
                    ready.put(name)
                name, error = taken(done)
                if error is not None:
                    raise error
                waiting.done(name)
        finally:
            _leave(ready)
            for cursor in cursors:
                cursor.interrupt()
            for thread in threads:
                thread.end()


def _work(cursor: duckdb.DuckDBPyConnection, statements: Mapping[str, str], ready: Ready, done: Done) -> None:
    """Run each statement whose name comes, until there are no more."""
    while (name := ready.get()) is not None:
        try:
            cursor.execute(statements[name])
        except Exception as error:  # noqa: BLE001 - it is raised by whoever waits for what is done
            done.put((name, error))
        else:
            done.put((name, None))


def _leave(ready: Ready) -> None:
    """Let no thread begin with anything more."""
    with suppress(Empty):
        while True:
            ready.get_nowait()
    for _ in range(AT_ONCE):
        ready.put(None)
