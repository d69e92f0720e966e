"""One SELECT over the views: what `keval sql` takes, with limits of rows, of characters and of time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from shlex import quote
from typing import TYPE_CHECKING, Any

from keval import projections
from keval.errors import UsageError
from keval.projections import read_only, rows
from keval.projections.json_values import json_text, json_value
from keval.projections.sql_file import literals, load
from keval.viewer.access import is_from_elsewhere

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from starlette.requests import Request
    from starlette.responses import Response

    from keval.viewer.pages import Pages
    from keval.viewer.snapshot import Snapshot, Snapshots

MOST_ROWS = 1_000
MOST_CHARACTERS = 2_000
"""Characters of a cell."""

MOST_TEXT = 2_000_000
"""Characters of all cells."""

MOST_BRACKETS = 500
"""Brackets within each other: DuckDB takes a second to refuse a thousand that nobody closes, and cannot be stopped."""

MOST_S = 10.0
"""Seconds after which a query is broken off."""

AT_ONCE = 2
"""Queries at once: the other pages need the machine, too."""

WAIT_S = 1.0
"""Seconds that a query waits for another one to end: while it waits it holds a thread that other pages need."""

FROM_ELSEWHERE = "This query came from another page, and was not run. Read it, and press Run if it is what you want."

_FREE = threading.BoundedSemaphore(AT_ONCE)


class BusyError(UsageError):
    """As many queries are running as may at once."""


@dataclass(frozen=True, slots=True)
class FoundRows:
    """What a query found, as far as it is shown."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_cut: bool
    """Whether there are more rows."""


def show(pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return what a query finds; without one the views that there are."""
    query = request.query_params.get("q", "").strip()
    found, problem, status = None, None, 200
    views: list[tuple[str, str, str]] = []
    with snapshot.asked() as connection:
        if query and is_from_elsewhere(request.headers):
            problem = FROM_ELSEWHERE
        elif query:
            try:
                found = answer(connection, query)
            except BusyError as error:
                problem, status = str(error), 503
            except UsageError as error:
                problem, status = str(error), 400
        else:
            views = list(_views(connection))
    logs = " ".join(quote(str(log)) for log in snapshots.logs)
    return pages.draw(
        "sql.html",
        request,
        snapshot,
        "SQL",
        status=status,
        query=query,
        found=found,
        problem=problem,
        views=views,
        most=MOST_ROWS,
        command_for_all=f"keval sql {logs} -o rows.csv {quote(query)}",
    )


def answer(connection: DuckDBPyConnection, query: str, seconds: float = MOST_S) -> FoundRows:
    """Return what a query finds.

    Raises UsageError for what is not one SELECT, is wrong, or takes too long, and BusyError while too many others run.
    Within a single call of a DuckDB function a query cannot be broken off.
    """
    import duckdb

    if _depth(query) > MOST_BRACKETS:
        raise UsageError(f"the query has more than {MOST_BRACKETS} brackets within each other")
    statement = read_only.bare(query)
    try:
        if not read_only.writes_nothing(connection, statement):
            raise UsageError("this is not one SELECT that only reads")
        with _turn(), _within(connection, seconds):
            return _read(*projections.columns_and_rows(connection, statement))
    except duckdb.InterruptException as error:
        raise UsageError(f"the query took more than {seconds:g} s and was broken off") from error
    except duckdb.OutOfMemoryException as error:
        raise UsageError("the query needs more memory than there is for it") from error
    except OverflowError as error:
        raise UsageError(f"a value has no form in Python ({error}); cast it to VARCHAR") from error
    except (duckdb.Error, UnicodeEncodeError) as error:
        raise UsageError(*f"{error}".split("\n")) from error


def _depth(query: str) -> int:
    """Return how many brackets of a query are open at once; those in texts count, too."""
    return max(accumulate(("([{".count(sign) - ")]}".count(sign) for sign in query), initial=0))


@contextmanager
def _turn() -> Iterator[None]:
    """Be one of the queries that run at once. Raises BusyError if none of them ends soon."""
    if not _FREE.acquire(timeout=WAIT_S):
        raise BusyError(f"{AT_ONCE} queries are running; try again when one of them has ended")
    try:
        yield
    finally:
        _FREE.release()


@contextmanager
def _within(connection: DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Break off what a connection does when the time is over."""
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _read(columns: list[str], found: Iterator[tuple[Any, ...]]) -> FoundRows:
    kept: list[tuple[str, ...]] = []
    size = 0
    for row in found:
        if len(kept) == MOST_ROWS or size > MOST_TEXT:
            return FoundRows(tuple(columns), tuple(kept), is_cut=True)
        cells = tuple(map(_cell, row))
        size += sum(map(len, cells))
        kept.append(cells)
    return FoundRows(tuple(columns), tuple(kept), is_cut=False)


def _cell(value: Any) -> str:  # noqa: ANN401 - any SQL value
    """Return a value as text, its beginning if it is long."""
    found = json_text(value).decode() if isinstance(value, dict | list | tuple) else json_value(value)
    text = "NULL" if found is None else str(found)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … {len(text) - MOST_CHARACTERS:,} more"


def _views(connection: DuckDBPyConnection) -> Iterator[tuple[str, str, str]]:
    """Yield each view with what one row is, and its columns."""
    names = literals(projections.VIEWS)
    columns = {row["name"]: row["columns"] for row in rows(connection, load("viewer", "columns", views=names))}
    for view in projections.VIEWS:
        said = projections.about(view).removesuffix(".").partition(". ")[0]
        yield view, said, ", ".join(columns.get(view, ()))
