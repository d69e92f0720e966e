"""Makes all tables and views of logs in a database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from keval.processes import memory
from keval.projections.loading import MOST_FOR_LOADING, READ, load_lines, name_files
from keval.projections.log_file import LogFile
from keval.projections.making import make
from keval.projections.sql_file import literal
from keval.projections.views import (
    ALL,
    DERIVED,
    KINDS,
    SUMMARIES,
    TEMPORARY,
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

MOST_FOR_TABLES = 512 * 2**20
"""Bytes that DuckDB takes at most to compute tables before it writes to the disk."""

FEW_LINES = 5_000
"""Of so many lines at most a table is made quicker than a query is planned that reads views which read views."""


def kinds_for(logs: Sequence[LogFile]) -> Mapping[str, str]:
    """Return what is made a table and what a view, as in `KINDS`; of few lines, all of `DERIVED` are tables."""
    if not all(log.is_checked for log in logs):  # to count them now would take seconds, and they can be read meanwhile
        return KINDS
    lines = sum(len(log.where.offsets) + (0 if log.stored is None else log.stored.lines) for log in logs)
    return KINDS if lines > FEW_LINES else KINDS | dict.fromkeys(DERIVED, "TABLE")


def build(  # noqa: PLR0913 - as connect, which passes them on
    connection: duckdb.DuckDBPyConnection,
    logs: Sequence[LogFile],
    kinds: Mapping[str, str] = KINDS,
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
    derived = {name: definition(name, everything=everything) for name in DERIVED if name in asked}
    make(connection, derived | summaries(before, texts=texts, asked=asked), kinds)


def summaries(before: int = 0, *, texts: bool, asked: Collection[str]) -> dict[str, str]:
    """Return the queries of the summaries, and of the views that users ask; all else as in `build`."""
    names = (name for name in ALL if name in asked and name not in DERIVED and (texts or name not in TEXTS))
    return {name: definition(name, file=f"(file + {before})::smallint") for name in names}


def build_apart(
    connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile], *, everything: bool, asked: Collection[str]
) -> None:
    """Make the tables and views of each log in a schema of its own, and views that have the rows of all.

    What is stored of a whole log is shown rather than computed, but for `everything`, by which other lines are current.
    `asked` as in `build`.
    """
    kinds = kinds_for(logs)
    for before, (schema, log) in enumerate(zip(schemas(logs), logs, strict=True)):
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET schema = '{schema}'")
        if log.ready is None or everything:
            build(connection, [log], kinds, everything=everything, before=before, asked=asked)
        else:
            _show_stored(connection, log.ready, before)
    connection.execute("SET schema = 'main'")
    for statement in apart_views(logs, asked=asked):
        connection.execute(statement)


def _show_stored(connection: duckdb.DuckDBPyConnection, stored: Path, before: int) -> None:
    """Make views over the tables that a database has; `before` as in `build`."""
    database = f"stored_{before + 1}"
    connection.execute(f"ATTACH {literal(str(stored))} AS {database} (READ_ONLY)")
    name_files(connection, 1, before)
    lasting = (name for name in (*READ, *DERIVED, *SUMMARIES) if name not in TEMPORARY)
    for name in lasting:
        connection.execute(made("VIEW", name, f"from {database}.{name}"))
    for name, query in summaries(before, texts=True, asked={*VIEWS}.difference(SUMMARIES)).items():
        connection.execute(made("VIEW", name, query))
