"""Tables computed from logs: one SQL file per view, which DuckDB runs over the JSONL files themselves.

Each file opens with a comment that says what one row is. A log is the truth and a view can be thrown
away: nothing here writes, and this side only fills in the file names and runs the files in order.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from keval.errors import InputError

if TYPE_CHECKING:
    import duckdb

VIEWS = (
    "lines",
    "events",
    "retracted",
    "latest",
    "runs",
    "versions",
    "rewrites",
    "responses",
    "judgments",
    "open_failures",
    "failures",
    "conditions",
    "scores",
    "response_scores",
    "metrics",
    "measures",
    "tasks",
    "cells",
    "sample_scores",
    "condition_scores",
    "comparisons",
    "tool_calls",
    "costs",
    "missing",
    "searched_answers",
    "canaries",
    "leaks",
)
"""All views, each after those it reads."""

TABLES = ("lines", "latest", "versions", "rewrites", "open_failures", "conditions", "metrics", "measures")
"""Those that are computed once, when a log is opened, because most others read them, some many times.

As views they would be repeated in whatever reads them: a view over views over views grows beyond
what DuckDB can plan in a second.
"""

LONGEST_LINE = 64 * 2**20
"""Bytes that a line may have; DuckDB reserves twice as much for each thread that reads."""

MEMORY_LIMIT = "1GB"
"""What does not fit waits on disk, so that the size of a log does not matter."""

MOST_THREADS = 4
"""Each thread that reads needs memory for lines, and more of them do not make the disk faster."""


def about(view: str) -> str:
    """Return the comment that a view's file opens with: what one row is."""
    lines = _sql(view).splitlines()
    ends = next(number for number, line in enumerate(lines) if not line.startswith("--"))
    return " ".join(line.removeprefix("--").strip() for line in lines[:ends])


def views_sql(paths: Sequence[Path]) -> str:
    """Return a script that makes all views over complete logs, for any DuckDB."""
    return "\n".join(_definition(view, paths) for view in VIEWS)


def connect(paths: Sequence[Path]) -> duckdb.DuckDBPyConnection:
    """Return a database with all views over logs of complete, valid lines.

    The lines are read now, once, into a temporary folder that is gone when the connection is.
    Raises InputError.
    """
    import duckdb

    folder = tempfile.mkdtemp(prefix="keval-")
    connection = duckdb.connect(
        f"{folder}/log.duckdb",
        config={"memory_limit": MEMORY_LIMIT, "temp_directory": folder, "threads": _threads()},
    )
    weakref.finalize(connection, shutil.rmtree, folder)
    for view in VIEWS:
        try:
            connection.execute(_definition(view, paths))
        except (duckdb.InvalidInputException, duckdb.IOException) as error:
            connection.close()
            raise InputError(f"{', '.join(map(str, paths))}: {error}") from error
    return connection


def _threads() -> int:
    return min(os.cpu_count() or 1, MOST_THREADS)


def _definition(view: str, paths: Sequence[Path]) -> str:
    files = ", ".join(_literal(path) for path in paths)
    sql = _sql(view).replace("$longest_line", str(LONGEST_LINE)).replace("$files", f"[{files}]")
    kind = "TABLE" if view in TABLES else "VIEW"
    return f"CREATE OR REPLACE {kind} {view} AS\n{sql.rstrip()};\n"


def _literal(path: Path) -> str:
    """Return an absolute path as an SQL string in which no character is a wildcard."""
    verbatim = "".join(f"[{character}]" if character in "*?[" else character for character in str(path.absolute()))
    return "'" + verbatim.replace("'", "''") + "'"


def _sql(view: str) -> str:
    return Path(__file__).with_name(f"{view}.sql").read_text(encoding="utf-8")
