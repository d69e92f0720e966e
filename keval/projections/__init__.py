"""Tables computed from logs: one SQL file per view, which DuckDB runs over the JSONL files themselves.

Each file opens with a comment that says what one row is. A log is the truth and a view can be thrown
away: nothing here writes, and this side only fills in the file names and runs the files in order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from keval.errors import EnvironmentLacksError, InputError, UsageError
from keval.ids import JsonObject
from keval.processes import memory, temporary

if TYPE_CHECKING:
    import duckdb

VIEWS = (
    "records",
    "lines",
    "events",
    "retracted",
    "latest",
    "runs",
    "current_samples",
    "changed_answers",
    "response_facts",
    "judgment_facts",
    "open_failures",
    "failure_facts",
    "conditions",
    "score_facts",
    "response_scores",
    "metrics",
    "series",
    "tasks",
    "outcomes",
    "sample_scores",
    "condition_scores",
    "comparisons",
    "texts",
    "responses",
    "judgments",
    "failures",
    "scores",
    "tool_calls",
    "costs",
    "missing",
    "orphaned_processes",
)
"""All views, each after those it reads."""

TABLES = ("lines", "latest", "current_samples", "changed_answers", "open_failures", "conditions", "metrics", "series")
"""Those that are computed once, when a log is opened, because most others read them, some many times.

As views they would be repeated in whatever reads them: a view over views over views grows beyond
what DuckDB can plan in a second.
"""

NOISE = 1e-11
"""Numbers that differ by no more than this share of the largest value they are made from do not differ.

Sums of floats depend on their order in the last bits, and saved numbers have 12 digits.
"""

READING_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
"""The parts of a query, as DuckDB names them, that read and do nothing else."""

_EXPLAIN = re.compile(r"\A\s*explain\s+(analyze\s+)?", re.IGNORECASE)

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
    lines = _sql(view).splitlines()
    ends = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return " ".join(line.removeprefix("--").strip() for line in lines[:ends])


def views_sql(paths: Sequence[Path]) -> str:
    """Return a script that makes all views over complete logs, for any DuckDB."""
    longest = _longest_line(paths)
    return "\n".join(_definition(view, paths, longest) for view in VIEWS)


@contextmanager
def connect(paths: Sequence[Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database with all views over logs of complete, valid lines.

    The lines are read now, once, into a temporary folder that is gone at the end. Raises InputError;
    and EnvironmentLacksError where there is no room on the disk or in memory, also for the queries of the block.
    """
    import duckdb

    folder, remove = temporary.make()
    try:
        size, longest, limit = sum(path.stat().st_size for path in paths), _longest_line(paths), memory.for_queries()
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{limit}B",
            "temp_directory": str(folder),
            "threads": _threads(size, longest, limit),
        }
        with duckdb.connect(f"{folder}/log.duckdb", config=config) as connection:
            for view in VIEWS:
                connection.execute(_definition(view, paths, longest))
            yield connection
    except duckdb.InvalidInputException as error:
        raise InputError(f"{', '.join(map(str, paths))}: {error}") from error
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.TransactionException) as error:
        raise EnvironmentLacksError(
            f"no room to compute tables: {error}; TMPDIR names another folder for temporary files"
        ) from error
    finally:
        remove()


def lock(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Shut a connection off from every file but the logs, from extensions and from its own settings.

    It cannot be opened again. Views read the logs on demand, so these stay allowed, to be written to as well: whoever
    runs a stranger's query asks `writes_nothing` first.
    """
    names = [name for path in paths for name in (str(path.resolve()), _verbatim(path))]
    allowed = ", ".join(map(literal, names))
    for setting in (
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"allowed_paths = [{allowed}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def writes_nothing(connection: duckdb.DuckDBPyConnection, query: str) -> bool:
    """Return whether a query is one SELECT, or EXPLAIN of one, and no part of it writes: `WITH x AS (COPY …)` would.

    Raises UsageError if it is nested too deep to be checked.
    """
    explained = _EXPLAIN.sub("", query)
    statements = connection.extract_statements(explained)
    if [statement.type.name for statement in statements] != ["SELECT"]:
        return False
    ((serialized,),) = connection.execute("SELECT json_serialize_sql(?::varchar)", [explained]).fetchall()
    try:
        parsed = orjson.loads(serialized)
    except orjson.JSONDecodeError as error:
        raise UsageError(
            "the query is nested too deep to check that it only reads; --unsafe runs it unchecked"
        ) from error
    return set(_nodes(parsed)) <= READING_NODES


def bare(query: str) -> str:
    """Return a query without the semicolons and comments at its end, to stand within another one. Raises UsageError."""
    import duckdb

    try:
        data = query.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the query is not UTF-8 text") from error
    end = len(data)
    for offset, kind in reversed(duckdb.tokenize(query)):
        if kind != duckdb.token_type.comment and data[offset : offset + 1] != b";":
            break
        end = offset
    return data[:end].decode()


def _nodes(tree: object) -> Iterator[str]:
    """Yield the types of all query nodes of a parsed query; an error as one of its own."""
    remaining = [tree]
    while remaining:
        part = remaining.pop()
        if isinstance(part, list):
            remaining += part
        elif isinstance(part, dict):
            remaining += part.values()
            own = str(part.get("type", ""))
            if own.endswith("_NODE"):
                yield own
            if part.get("error") is True:
                yield "ERROR"


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[JsonObject]:
    """Yield what a query finds, columns by name; the caller may ask something else between two rows."""
    with connection.cursor() as cursor:
        names, found = columns_and_rows(cursor, sql)
        for row in found:
            yield dict(zip(names, row, strict=True))


def columns_and_rows(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Run a query and return its columns, and its rows as they are found, until the connection is used again."""
    connection.execute(sql)
    return [str(column[0]) for column in connection.description or ()], _fetched(connection)


def _fetched(executed: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while found := executed.fetchmany(ROWS_AT_ONCE):
        yield from found


def rows_by_condition(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[tuple[str, str], list[JsonObject]]:
    """Return what a query finds by the ids of condition and agent, which it has to have as columns."""
    found: dict[tuple[str, str], list[JsonObject]] = {}
    for row in rows(connection, sql):
        found.setdefault((row["condition_id"], row["agent_id"]), []).append(row)
    return found


def _threads(size: int, longest: int, limit: int) -> int:
    useful = min(1 + size // BYTES_PER_THREAD, os.cpu_count() or 1, MOST_THREADS)
    return max(min(useful, limit // (LINES_PER_THREAD * longest)), 1)


def _longest_line(paths: Sequence[Path]) -> int:
    """Return a bound on the bytes of a line, which DuckDB wants to know before it reads."""
    longest = SHORTEST_LINE
    for path in paths:
        with path.open("rb") as lines:
            longest = max(longest, max(map(len, lines), default=0))
    return longest + 1


def _definition(view: str, paths: Sequence[Path], longest: int) -> str:
    files = ", ".join(literal(_verbatim(path)) for path in paths)
    sql = (
        _sql(view).replace("$longest_line", str(longest)).replace("$files", f"[{files}]").replace("$noise", str(NOISE))
    )
    kind = "TABLE" if view in TABLES else "VIEW"
    return f"CREATE OR REPLACE {kind} {view} AS\n{sql.rstrip()};\n"


def literal(text: str) -> str:
    """Return a text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def _verbatim(path: Path) -> str:
    """Return an absolute path without links as a pattern in which no character is a wildcard."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path.resolve()))


def _sql(view: str) -> str:
    return Path(__file__).with_name(f"{view}.sql").read_text(encoding="utf-8")
