"""Makes all tables and views of logs in a database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from keval.processes import memory
from keval.projections.loading import MOST_FOR_LOADING, READ, load_lines, name_files
from keval.projections.log_file import LogFile
from keval.projections.sql_file import literal
from keval.projections.views import (
    ALL,
    DERIVED,
    SIDES_AS_WRITTEN,
    SUMMARIES,
    TEXTS,
    VIEWS,
    apart_views,
    definition,
    made,
    schemas,
)

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

MOST_FOR_TABLES = 448 * 2**20
"""Bytes that DuckDB takes at most to compute tables before it writes to the disk."""

OPTIMIZER_OFF = "common_subplan"
"""DuckDB would keep in memory what two parts of a query have in common: it may be a row for each line of a log, with
all columns that any part needs, though most queries find few rows."""

FEW_LINES = 5_000
"""Of so many lines at most a table is made quicker than a query is planned that reads views which read views."""


def kinds_for(logs: Sequence[LogFile]) -> Mapping[str, str]:
    """Return what is made a table and what a view, as in `DERIVED`; of few lines, all of that are tables."""
    lines = sum(len(log.where.offsets) + (0 if log.stored is None else log.stored.lines) for log in logs)
    return DERIVED if lines > FEW_LINES else {name: kind.replace("VIEW", "TABLE") for name, kind in DERIVED.items()}


def build(  # noqa: PLR0913 - as connect, which passes them on
    connection: duckdb.DuckDBPyConnection,
    logs: Sequence[LogFile],
    kinds: Mapping[str, str] = DERIVED,
    *,
    everything: bool,
    before: int = 0,
    texts: bool = True,
    asked: Collection[str] = ALL,
) -> None:
    """Make tables and views of logs: one log after the other, as `cat` would merge them.

    `kinds` are those of `kinds_for`. The logs come after so many others `before`. `texts` as in `connect`; `asked`
    names what is made, with all that it is made from. Raises InputError when a log is no longer what was checked.
    """
    load_lines(connection, logs, before)
    # Beside lines that are copied from a stored database its pages are in memory, too.
    most = MOST_FOR_TABLES if all(log.stored is None for log in logs) else MOST_FOR_LOADING
    connection.execute(f"SET memory_limit = '{min(memory.for_queries(), most)}B'")
    connection.begin()
    for name, kind in kinds.items():
        if name in asked:
            statement = made(kind, name, definition(name, everything=everything))
            connection.execute(_with_sides_as_written(statement) if name in SIDES_AS_WRITTEN else statement)
    make_summaries(connection, before, texts=texts, asked=asked)
    connection.commit()


def _with_sides_as_written(statement: str) -> str:
    """Return a statement that DuckDB runs with the sides of its joins as they are written."""
    off = f"{OPTIMIZER_OFF}, build_side_probe_side"
    return f"SET disabled_optimizers = '{off}';\n{statement}SET disabled_optimizers = '{OPTIMIZER_OFF}';\n"


def make_summaries(
    connection: duckdb.DuckDBPyConnection, before: int = 0, *, texts: bool, asked: Collection[str]
) -> None:
    """Make the summaries, and the views that queries ask; `before`, `texts` and `asked` as in `build`."""
    for name in SUMMARIES:
        if name in asked:
            connection.execute(made("TABLE", name, definition(name)))
    _make_views(connection, before, texts=texts, asked=asked)


def _make_views(connection: duckdb.DuckDBPyConnection, before: int, *, texts: bool, asked: Collection[str]) -> None:
    for name in VIEWS:
        if name in asked and name not in {*DERIVED, *SUMMARIES} and (texts or name not in TEXTS):
            connection.execute(made("VIEW", name, definition(name, file=f"(file + {before})::smallint")))


def build_apart(connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile], *, everything: bool) -> None:
    """Make the tables and views of each log in a schema of its own, and views that have the rows of all.

    What is stored of a whole log is shown rather than computed, but for `everything`, by which other lines are current.
    """
    kinds = kinds_for(logs)
    for before, (schema, log) in enumerate(zip(schemas(logs), logs, strict=True)):
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET schema = '{schema}'")
        if log.ready is None or everything:
            build(connection, [log], kinds, everything=everything, before=before)
        else:
            _show_stored(connection, log.ready, before)
    connection.execute("SET schema = 'main'")
    for statement in apart_views(logs):
        connection.execute(statement)


def _show_stored(connection: duckdb.DuckDBPyConnection, stored: Path, before: int) -> None:
    """Make views over the tables that a database has; `before` as in `build`."""
    database = f"stored_{before + 1}"
    connection.execute(f"ATTACH {literal(str(stored))} AS {database} (READ_ONLY)")
    name_files(connection, 1, before)
    lasting = (name for name, kind in DERIVED.items() if "TEMP" not in kind)
    for name in (*READ, *lasting, *SUMMARIES):
        connection.execute(made("VIEW", name, f"from {database}.{name}"))
    _make_views(connection, before, texts=True, asked=ALL)
