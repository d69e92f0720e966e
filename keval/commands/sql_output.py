"""Writes what a query finds: as a table for people, or as CSV or JSON for programs."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from keval.commands.messages import warn
from keval.commands.pager import terminal
from keval.counted import counted
from keval.ids import JsonObject
from keval.printable import printable_json, printable_lines, spreadsheet_cell
from keval.projections.json_values import json_text, json_value, with_json

if TYPE_CHECKING:
    import duckdb

ROWS_ON_A_TERMINAL = 40
"""More rows of a table are left out in its middle."""

UNLIMITED = 2**31 - 1
"""More than any table has of anything."""

_LEFT_OUT = re.compile(r"…\s*│| shown\)")
"""How DuckDB marks a cell that it cut, and says that rows or columns are left out."""


def write(connection: duckdb.DuckDBPyConnection, query: str, form: str, target: Path | None) -> None:
    """Write what a query finds to a file, or to stdout."""
    if target is None:
        shown_on = terminal()
        in_terminal = form == "table" and shown_on is not None
        parts = (
            table(connection, query, shown_on.width) if in_terminal and shown_on else RENDER[form](connection, query)
        )
        for part in parts:
            sys.stdout.buffer.write(part)
            if in_terminal:
                sys.stdout.flush()  # before what is said of it
        sys.stdout.flush()
        return
    with target.open("wb") as file:
        file.writelines(RENDER[form](connection, query))


def table(connection: duckdb.DuckDBPyConnection, query: str, width: int | None = None) -> Iterator[bytes]:
    """Yield a table for people: on a terminal of so many columns what fits, else every row and character.

    DuckDB draws tables that need it 80 columns wide, even where a terminal is narrower.
    What is left out is said on stderr, with how to see it.
    """
    found = connection.sql(query)
    if found is not None:
        yield from _drawn(found.materialize(), width)  # or to count its rows would run the query again


def _drawn(rows: duckdb.DuckDBPyRelation, width: int | None) -> Iterator[bytes]:
    drawn = io.StringIO()
    with contextlib.redirect_stdout(drawn):  # DuckDB prints it, and gives back only one that is cut
        if width:
            rows.show(max_width=width, max_rows=ROWS_ON_A_TERMINAL)
        else:
            rows.show(max_width=UNLIMITED, max_rows=UNLIMITED, max_col_width=UNLIMITED)
    yield printable_lines(drawn.getvalue()).encode()
    if width:
        count = counted(len(rows), "row")
        more = "; not all is shown: `| less -S` has every row and character, -o FILE.csv saves them"
        warn(f"{count}{more if _LEFT_OUT.search(drawn.getvalue()) else ''}")


def _csv(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    from keval.projections import columns_and_rows

    columns, found = columns_and_rows(connection, query)
    yield _csv_line([spreadsheet_cell(name) for name in columns])
    for row in found:
        yield _csv_line([_cell(value) for value in row])


def _csv_line(cells: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a value as CSV holds it: numbers stay numbers, and no text is taken for a formula."""
    if isinstance(value, int | float | Decimal):
        return value
    found = json_text(value).decode() if isinstance(value, dict | list | tuple) else json_value(value)
    return spreadsheet_cell(found) if isinstance(found, str) else found


def _json(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    found = list(_objects(connection, query))
    yield printable_json(json_text(found, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _jsonl(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    for row in _objects(connection, query):
        yield printable_json(json_text(row, orjson.OPT_APPEND_NEWLINE))


def _objects(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[JsonObject]:
    from keval.projections import columns_and_rows

    # Not projections.rows: its cursor would not be locked.
    columns, found = columns_and_rows(connection, query)
    kinds = [column[1] for column in connection.description or ()]
    return (dict(zip(columns, map(with_json, row, kinds), strict=True)) for row in found)


RENDER: dict[str, Callable[[duckdb.DuckDBPyConnection, str], Iterator[bytes]]] = {
    "table": table,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
}
