"""Tables computed from logs: one SQL file per view, which DuckDB runs over the JSONL files themselves.

Each file opens with a comment that says what one row is. A log is the truth and a view can be thrown
away: nothing here writes, and this side only fills in the file names and runs the files in order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keval import failure_kinds
from keval.errors import EnvironmentLacksError, InputError
from keval.ids import JsonObject
from keval.processes import memory, temporary
from keval.projections.log_file import LogFile, as_log_file
from keval.projections.sql_file import literal, load, verbatim

if TYPE_CHECKING:
    import duckdb

VIEWS = (
    "records",
    "lines",
    "events",
    "logs",
    "retracted",
    "latest",
    "whole_plans",
    "runs",
    "plans",
    "planned_conditions",
    "planned_questions",
    "current_samples",
    "changed_answers",
    "changed_samples",
    "standings",
    "response_facts",
    "judgment_standings",
    "judgment_facts",
    "open_failures",
    "failure_facts",
    "failure_kinds",
    "conditions",
    "score_facts",
    "response_scores",
    "metrics",
    "series",
    "tasks",
    "outcomes",
    "sample_means",
    "condition_means",
    "sample_scores",
    "condition_scores",
    "condition_aggregates",
    "sample_aggregates",
    "compared_series",
    "paired_samples",
    "comparisons",
    "texts",
    "samples",
    "responses",
    "judgments",
    "failures",
    "scores",
    "tool_calls",
    "costs",
    "missing",
    "left_out",
    "orphaned_processes",
)
"""All views, each after those it reads."""

TABLES = (
    "lines",
    "latest",
    "plans",
    "planned_questions",
    "current_samples",
    "changed_answers",
    "changed_samples",
    "standings",
    "judgment_standings",
    "open_failures",
    "conditions",
    "metrics",
    "series",
    "outcomes",
)
"""Those that are computed once, when a log is opened, because most others read them, some many times.

As views they would be repeated in whatever reads them: a view over views over views grows beyond
what DuckDB can plan in a second.
"""

NOISE = 1e-11
"""Numbers that differ by no more than this share of the largest value they are made from do not differ.

Sums of floats depend on their order in the last bits, and saved numbers have 12 digits.
"""

SHORTEST_LINE = 2**20
"""Bytes that DuckDB is told a line may have, at least; it reserves twice as much for each thread that reads."""

LINES_PER_THREAD = 8
"""Of the longest line so many have to fit into memory for each thread that reads."""

ROWS_AT_ONCE = 100
"""Rows of a query that are in memory at once: each may hold 30 MB."""

BYTES_PER_THREAD, MOST_THREADS = 64 * 2**20, 4
"""Another thread reads for so many bytes of log: each needs memory, and on a small log only that."""


def about(view: str) -> str:
    """Return the comment that a view's file opens with: what one row is."""
    lines = (Path(__file__).parent / f"{view}.sql").read_text(encoding="utf-8").splitlines()
    ends = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return " ".join(line.removeprefix("--").strip() for line in lines[:ends])


def views_sql(logs: Sequence[LogFile | Path], *, everything: bool = False, apart: bool = False) -> str:
    """Return a script that makes all views over logs of complete lines, for any DuckDB; see `connect`."""
    return "\n".join(_statements(list(map(as_log_file, logs)), everything=everything, apart=apart))


@contextmanager
def connect(
    logs: Sequence[LogFile | Path], *, everything: bool = False, apart: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database with all views over logs of valid lines: one log after the other, as `cat` would merge them.

    `everything` makes current what the newest plan leaves out. `apart` keeps the logs apart: each has the views of its
    own lines only, and every view has the rows of all logs, told apart by the column `log`.

    The lines are read now, once, into a temporary folder that is gone at the end. Raises InputError;
    and EnvironmentLacksError where there is no room on the disk or in memory, also for the queries of the block.
    """
    import duckdb

    files = list(map(as_log_file, logs))
    folder, remove = temporary.make()
    try:
        size, longest = sum(log.path.stat().st_size for log in files), _longest_line(files)
        limit = memory.for_queries()
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{limit}B",
            "temp_directory": str(folder),
            "threads": _threads(size, longest, limit),
        }
        with duckdb.connect(f"{folder}/log.duckdb", config=config) as connection:
            connection.begin()
            for statement in _statements(files, everything=everything, apart=apart):
                connection.execute(statement)
            connection.commit()
            _check_unchanged(connection, files)
            yield connection
    except RuntimeError as error:
        if "interrupted" in str(error):  # DuckDB's word for Ctrl-C
            raise KeyboardInterrupt from error
        raise
    except duckdb.InvalidInputException as error:
        raise InputError(f"{', '.join(log.name for log in files)}: {error}") from error
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.TransactionException) as error:
        raise EnvironmentLacksError(
            f"no room to compute tables: {error}; TMPDIR names another folder for temporary files"
        ) from error
    finally:
        remove()


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[JsonObject]:
    """Yield what a query finds, columns by name; the caller may ask something else between two rows."""
    with connection.cursor() as cursor:
        names, found = columns_and_rows(cursor, sql)
        for row in found:
            yield dict(zip(names, row, strict=True))


def rows_of(connection: duckdb.DuckDBPyConnection, view: str) -> Iterator[JsonObject]:
    """Yield the rows of a view, in its order if it has one."""
    return rows(connection, f"from {view}")


def columns_and_rows(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Run a query and return its columns, and its rows as they are found, until the connection is used again."""
    connection.execute(sql)
    return [str(column[0]) for column in connection.description or ()], _fetched(connection)


def _fetched(executed: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while found := executed.fetchmany(ROWS_AT_ONCE):
        yield from found


def _check_unchanged(connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile]) -> None:
    """Raise InputError if there are fewer lines than were checked: somebody wrote over a log or cut it off."""
    read = sum(row["events"] for row in rows_of(connection, "logs"))
    checked = [log.lines for log in logs]
    if None not in checked and read != sum(filter(None, checked)):
        names = ", ".join(log.name for log in logs)
        raise InputError(f"{names}: changed while it was read, in lines that were complete; try again")


def _threads(size: int, longest: int, limit: int) -> int:
    useful = min(1 + size // BYTES_PER_THREAD, os.cpu_count() or 1, MOST_THREADS)
    return max(min(useful, limit // (LINES_PER_THREAD * longest)), 1)


def _longest_line(logs: Sequence[LogFile]) -> int:
    """Return a bound on the bytes of a line, which DuckDB wants to know before it reads."""
    return 1 + max([SHORTEST_LINE, *(log.longest_line for log in logs)])


def _statements(logs: Sequence[LogFile], *, everything: bool, apart: bool) -> Iterator[str]:
    """Yield what makes all views; kept apart, each log has a schema of its own, over which the views collect."""
    if not apart:
        yield from _definitions(logs, everything=everything)
        return
    schemas = {f"log_{number}": log for number, log in enumerate(logs, start=1)}
    for schema, log in schemas.items():
        yield f"CREATE SCHEMA {schema};\nSET schema = '{schema}';\n"
        yield from _definitions([log], everything=everything)
    yield "SET schema = 'main';\n"
    for view in VIEWS:
        parts = (
            load("projections", "one_log", name=literal(log.name), view=f"{of}.{view}") for of, log in schemas.items()
        )
        yield _made("VIEW", view, "union all\n".join(parts))


def _definitions(logs: Sequence[LogFile], *, everything: bool) -> Iterator[str]:
    longest = _longest_line(logs)
    kinds = ", ".join(f"({', '.join(map(literal, row))})" for row in failure_kinds.view_rows())
    given = {"noise": str(NOISE), "everything": str(everything).lower(), "failure_kinds": kinds}
    for view in VIEWS:
        kind = "TABLE" if view in TABLES else "VIEW"
        if view == "records":
            yield _made(kind, view, "union all\n".join(_records(log, longest) for log in logs))
        else:
            yield _made(kind, view, load("projections", view, **given))


def _records(log: LogFile, longest: int) -> str:
    return load(
        "projections",
        "records",
        file=literal(verbatim(log.path)),
        log=literal(log.name),
        longest_line=str(longest),
        # What a writer adds is left out, be it half a line.
        ignore_errors=str(log.lines is not None).lower(),
        lines="all" if log.lines is None else str(log.lines),
    )


def _made(kind: str, view: str, sql: str) -> str:
    return f"CREATE OR REPLACE {kind} {view} AS\n{sql.rstrip()};\n"
