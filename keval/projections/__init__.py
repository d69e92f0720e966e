"""Tables computed from logs: one SQL file per table or view, which DuckDB runs over the JSONL files themselves.

Each file opens with a comment that says what one row is. A log is the truth and a table can be thrown
away: nothing here writes to a log, and this side only fills in the file names and runs the files in order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keval.errors import EnvironmentLacksError, InputError
from keval.ids import JsonObject
from keval.processes import interruption, memory, temporary
from keval.projections import continuation, loading, making, tables, tool_use
from keval.projections.line_text import functions_over
from keval.projections.log_file import LogFile, VanishedError, as_log_file
from keval.projections.script import views_sql
from keval.projections.sql_file import load
from keval.projections.views import ALL, DERIVED, MACROS, NOISE, TEXTS, VIEWS, about, made, needed_for

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "ALL",
    "DERIVED",
    "NOISE",
    "VIEWS",
    "about",
    "columns_and_rows",
    "connect",
    "rows",
    "rows_of",
    "scratch",
    "store",
    "views_sql",
]

AskedNames = Collection[str] | Callable[["duckdb.DuckDBPyConnection"], Collection[str]]
"""The tables and views that will be asked; or what tells them, given a connection that may already parse a query."""

ROWS_AT_ONCE = 100
"""Rows of a query that are in memory at once: each may hold 30 MB."""

MOST_FOR_QUERIES = 1536 * 2**20
"""Bytes that DuckDB takes at most for a query; not all that it holds of a million answers can go to the disk.

Of texts it holds two thousand at once, each of which may have megabytes: of these it may take what there is.
"""

NO_MEMORY = "executing the UDF: MemoryError"
"""What DuckDB says of a function of ours that found no memory."""

BYTES_PER_THREAD = 64 * 2**20
"""Another thread reads for so many bytes of log: each needs memory, and on a small log only that."""

MOST_IN_MEMORY = 4 * 2**20
"""Bytes of logs whose tables fit into memory for certain; to write these to the disk takes longer than to make them."""


@contextmanager
def connect(  # noqa: PLR0913 - each says of something else what is asked
    logs: Sequence[LogFile | Path],
    *,
    everything: bool = False,
    apart: bool = False,
    texts: bool = True,
    tools: bool = True,
    asked: AskedNames = ALL,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database with all views over logs of valid lines: one log after the other, as `cat` would merge them.

    `everything` makes current what the newest plan leaves out. `apart` keeps the logs apart: each has the views of its
    own lines only, and every view has the rows of all logs, told apart by the column `log`. Without `texts` there are
    no views that read texts from the logs; without `tools`, or apart, there is no `tool_use`.
    `asked` names the tables and views that will be asked: what these do not need is not made, unless it is stored.

    What is not stored is computed now, in a temporary folder that is gone at the end. Raises InputError;
    and EnvironmentLacksError where there is no room on the disk or in memory, also for the queries of the block.
    """
    files = list(map(as_log_file, logs))
    may_continue = len(files) == 1 and not everything and not apart
    ready = files[0].ready if may_continue else None
    with ExitStack() as open_:
        connection = open_.enter_context(_database(files, ready, may_continue=may_continue))
        named = asked(connection) if callable(asked) else asked
        needed = needed_for([*named, *(tool_use.READ if tools else ())])
        texts = texts and (apart or not TEXTS.isdisjoint(needed))
        if texts:
            open_.enter_context(functions_over(connection, files))
        if apart:
            tables.build_apart(connection, files, everything=everything, asked=needed)
        elif ready is None and not (
            may_continue and continuation.build(connection, files[0], texts=texts, tools=tools, asked=needed)
        ):
            kinds = tables.kinds_for(files)
            tables.build(connection, files, kinds, everything=everything, texts=texts, asked=needed)
            if tools:
                tool_use.make_table(connection, files)
        most = memory.for_queries()
        connection.execute(f"SET memory_limit = '{most if texts else min(most, MOST_FOR_QUERIES)}B'")
        yield connection


def store(log: LogFile, target: Path) -> None:
    """Make all tables and views of a log in a new file, for `LogFile.stored`. Raises as `connect`."""
    with _database([log], None, target) as connection, functions_over(connection, [log]):
        tables.build(connection, [log], everything=False)
        tool_use.make_table(connection, [log])
        connection.execute(made("TABLE", "is_separable", load("projections", "is_separable")))  # see continuation.py
        connection.execute("CHECKPOINT")  # at the end of a connection it would fail without a word


@contextmanager
def scratch() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give an empty database in memory, with the limits and errors of `connect`, for what several others hold."""
    with _database([], None) as connection:
        connection.execute(f"SET threads = {loading.threads(0)}")
        connection.execute(f"SET memory_limit = '{min(memory.for_queries(), MOST_FOR_QUERIES)}B'")
        yield connection


@contextmanager
def _database(
    logs: Sequence[LogFile], ready: Path | None, target: Path | None = None, *, may_continue: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database that is ready, or a new one: in memory, in a temporary folder, or as a file of its own.

    With `may_continue`, what is stored of the logs stays where it is.
    """
    memory.check_addresses()
    import duckdb

    folder, remove = temporary.make()
    try:
        config = _settings(logs, folder)
        to_read = sum(map(_size_to_read if may_continue else _size, logs))
        path = ready or target or (":memory:" if to_read < MOST_IN_MEMORY else folder / "log.duckdb")
        with (
            interruption.told_as_such(),
            duckdb.connect(str(path), read_only=ready is not None, config=config) as connection,
        ):
            _make_session(connection, logs)
            yield connection
    except duckdb.InvalidInputException as error:
        if NO_MEMORY in str(error):
            raise MemoryError from error
        if not logs:
            raise  # it comes from another database, whose `connect` names the logs
        raise InputError(f"{', '.join(log.name for log in logs)}: {error}") from error
    except FileNotFoundError as error:
        _raise_if_gone(logs, error)
        raise
    except duckdb.OutOfMemoryException as error:
        _raise_if_gone(logs, error)
        said = str(error).partition("\n")[0]  # what comes after it is about settings that no user has
        raise EnvironmentLacksError(
            f"not enough memory to compute tables: {said}; ask for less, without texts, or end other programs; TMPDIR "
            "names another folder for temporary files"
        ) from error
    except (
        duckdb.IOException,
        duckdb.TransactionException,
        duckdb.FatalException,  # what a checkpoint says of a full disk
    ) as error:
        _raise_if_gone(logs, error)
        raise EnvironmentLacksError(
            f"no room to compute tables: {error}; TMPDIR names another folder for temporary files"
        ) from error
    finally:
        remove()


def _raise_if_gone(logs: Sequence[LogFile], error: Exception) -> None:
    """Raise VanishedError if a log is no longer there, which is why there is an error."""
    for log in logs:
        if not log.path.exists():
            raise VanishedError(log.name) from error


def _make_session(connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile]) -> None:
    """Make what stands beside the database: what the user calls the logs, which one that is stored does not know."""
    connection.execute("ATTACH ':memory:' AS session (READ_WRITE)")
    given = load("projections", "files", files="(select unnest(?) as number, unnest(?) as name)")
    names = [log.name for log in logs]
    connection.execute(made("TABLE", "session.files", given), [list(range(1, len(names) + 1)), names])
    for macro in MACROS:
        connection.execute(load("projections", macro))


def _settings(logs: Sequence[LogFile], folder: Path) -> dict[str, str | bool | int | float | list[str]]:
    limit = min(memory.for_queries(), loading.MOST_FOR_LOADING)
    longest = max((log.where.longest for log in logs if log.is_checked), default=0)
    is_growing = any(log.growing is not None for log in logs)  # to what size is not known
    wanted = loading.MOST_THREADS if is_growing else 1 + sum(map(_size, logs)) // BYTES_PER_THREAD
    threads = min(wanted, loading.threads(longest))
    return {
        "memory_limit": f"{limit}B",
        "temp_directory": str(folder),
        "threads": threads,
        "disabled_optimizers": making.OPTIMIZER_OFF,
    }


def _size_to_read(log: LogFile) -> int:
    """Return the bytes that are not stored."""
    return _size(log) - (0 if log.stored is None else log.stored.size)


def _size(log: LogFile) -> int:
    try:
        return log.path.stat().st_size
    except OSError as error:
        raise InputError(f"{log.name}: {error.strerror}") from error


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
