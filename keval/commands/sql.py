"""Ask a log questions in SQL."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from keval.collect import collected
from keval.errors import UsageError
from keval.options import SKIP_INVALID, warn
from keval.printable import printable_lines, spreadsheet_cell

if TYPE_CHECKING:
    import duckdb


@click.command(epilog='Example: keval sql run.jsonl "SELECT condition, metric, avg(score) FROM scores GROUP BY ALL"')
@click.argument("arguments", metavar="LOG... [QUERY]", nargs=-1, required=True)
@click.option("-f", "--format", "form", type=click.Choice(["table", "csv", "json", "jsonl"]), default="table",
              show_default=True, help="How the rows are printed.")  # fmt: skip
@click.option("--print-views", is_flag=True, help="Print the views over the logs for your own DuckDB, and stop.")
@SKIP_INVALID
def command(arguments: tuple[str, ...], form: str, print_views: bool, skip_invalid: bool) -> None:
    """Run a DuckDB query over logs (- reads stdin).

    Views: runs, responses, judgments, failures, scores, tool_calls, sample_scores,
    condition_scores, costs, missing.
    """
    from keval import projections

    if print_views:
        click.echo(projections.views_sql([Path(name).resolve() for name in arguments]))
        return
    *names, query = arguments
    if not names or query.endswith(".jsonl"):
        raise UsageError('the last argument is the query: keval sql LOG "SELECT …"')
    import duckdb

    logs = [Path(name) for name in names]
    with collected(logs, warn, skip_invalid=skip_invalid) as paths, projections.connect(paths) as connection:
        try:
            rows = connection.sql(query)
            rendered = b"" if rows is None else RENDER[form](rows)
        except duckdb.Error as error:
            first, *others = f"{error}".split("\n")
            raise UsageError(first, *(f"  {line}".rstrip() for line in others)) from error
    sys.stdout.buffer.write(rendered)
    sys.stdout.flush()


def _table(rows: duckdb.DuckDBPyRelation) -> bytes:
    return f"{printable_lines(str(rows))}\n".encode()


def _csv(rows: duckdb.DuckDBPyRelation) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(spreadsheet_cell, rows.columns))
    writer.writerows([_cell(value) for value in row] for row in rows.fetchall())
    return text.getvalue().encode()


def _cell(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a value as CSV holds it: numbers stay numbers, and no text is taken for a formula."""
    if isinstance(value, dict | list):
        value = orjson.dumps(value, default=str).decode()
    return spreadsheet_cell(value) if isinstance(value, str) else value


def _objects(rows: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]


def _json(rows: duckdb.DuckDBPyRelation) -> bytes:
    return orjson.dumps(_objects(rows), default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _jsonl(rows: duckdb.DuckDBPyRelation) -> bytes:
    return b"".join(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE) for row in _objects(rows))


RENDER = {"table": _table, "csv": _csv, "json": _json, "jsonl": _jsonl}
