"""Ask a log questions in SQL."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from keval.collect import collected
from keval.errors import InputError, UsageError
from keval.options import SKIP_INVALID, warn
from keval.outputs import check_output, check_stdout, replaced
from keval.printable import printable_lines, spreadsheet_cell

if TYPE_CHECKING:
    import duckdb

ROWS_AT_ONCE = 100
"""Rows of a result that are in memory at once: each may hold 30 MB."""

HINT = "keval sql only reads its views: -o FILE saves what a SELECT finds, --unsafe lifts the limit"


@click.command(epilog='Example: keval sql run.jsonl "SELECT condition, metric, avg(score) FROM scores GROUP BY ALL"')
@click.argument("arguments", metavar="LOG... [QUERY]", nargs=-1, required=True)
@click.option("-f", "--format", "form", type=click.Choice(["table", "csv", "json", "jsonl", "parquet"]),
              default="table", show_default=True, help="How the rows are written; parquet needs -o.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to FILE, not to stdout.")
@click.option("--overwrite", is_flag=True, help="Let -o replace a file that exists, though never a log.")
@click.option("--unsafe", is_flag=True, help="Allow every statement and every file: COPY … TO, read_csv, ATTACH, SET.")
@click.option("--print-views", is_flag=True, help="Print the views over the logs for your own DuckDB, and stop.")
@SKIP_INVALID
def command(
    arguments: tuple[str, ...],
    form: str,
    output: Path | None,
    overwrite: bool,
    unsafe: bool,
    print_views: bool,
    skip_invalid: bool,
) -> None:
    """Run a DuckDB query over logs (- reads stdin).

    Views: runs, responses, judgments, failures, scores, tool_calls, sample_scores,
    condition_scores, costs, missing. The query is one SELECT over them, and cannot touch other
    files, unless --unsafe is given.
    """
    from keval import projections

    if print_views:
        click.echo(projections.views_sql(_named(arguments)))
        return
    *names, query = arguments
    if not names or query.endswith(".jsonl"):
        raise UsageError('the last argument is the query: keval sql LOG "SELECT …"')
    if form == "parquet" and output is None:
        raise UsageError("-f parquet is a file: name it with -o FILE")
    logs = [Path(name) for name in names]
    with collected(logs, warn, skip_invalid=skip_invalid) as paths:
        if output is None:
            _answer(paths, query, form, None, unsafe=unsafe)
            return
        check_output(output, logs, lambda _: overwrite)
        with replaced(output, logs, lambda _: overwrite) as temporary:
            _answer(paths, query, form, temporary, unsafe=unsafe)


def _named(arguments: tuple[str, ...]) -> list[Path]:
    """Return the logs that views can be made over: files, which stdout does not lead into."""
    logs = [Path(name) for name in arguments]
    check_stdout(logs, "write to another file")
    for log in logs:
        if not log.is_file():
            raise InputError(
                f"{log}: no such file; --print-views names its logs in the views, so it needs them as files"
            )
    return [log.resolve() for log in logs]


def _answer(paths: list[Path], query: str, form: str, target: Path | None, *, unsafe: bool) -> None:
    """Run a query over files with valid events, and write what it finds to a file or to stdout."""
    import duckdb

    from keval import projections

    with projections.connect(paths) as connection:
        try:
            if not unsafe:
                if not projections.writes_nothing(connection, query):
                    raise UsageError(f"the query is not one SELECT that only reads; {HINT}")
                projections.lock(connection, paths if target is None else [*paths, target])
            if form == "parquet":
                connection.execute(f"COPY (\n{query}\n) TO {_quoted(target)} (FORMAT parquet, USE_TMP_FILE false)")
                return
            _write(RENDER[form](connection, query), target)
        except duckdb.PermissionException as error:
            raise UsageError(*f"{error}".split("\n"), HINT) from error
        except duckdb.Error as error:
            first, *others = f"{error}".split("\n")
            raise UsageError(first, *(f"  {line}".rstrip() for line in others)) from error


def _quoted(path: Path | None) -> str:
    return "'" + str(path and path.resolve()).replace("'", "''") + "'"


def _write(parts: Iterator[bytes], target: Path | None) -> None:
    if target is None:
        for part in parts:
            sys.stdout.buffer.write(part)
        sys.stdout.flush()
        return
    with target.open("wb") as file:
        file.writelines(parts)


def _table(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    rows = connection.sql(query)
    if rows is not None:
        yield f"{printable_lines(str(rows))}\n".encode()


def _csv(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    yield _csv_lines([[spreadsheet_cell(name) for name in _columns(connection.execute(query))]])
    for found in _batches(connection):
        yield _csv_lines([[_cell(value) for value in row] for row in found])


def _csv_lines(cells: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a value as CSV holds it: numbers stay numbers, and no text is taken for a formula."""
    if isinstance(value, dict | list):
        value = orjson.dumps(value, default=str).decode()
    return spreadsheet_cell(value) if isinstance(value, str) else value


def _json(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    found = list(_objects(connection, query))
    yield orjson.dumps(found, default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _jsonl(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    for row in _objects(connection, query):
        yield orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE)


def _objects(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[dict[str, Any]]:
    columns = _columns(connection.execute(query))
    for found in _batches(connection):
        for row in found:
            yield dict(zip(columns, row, strict=True))


def _columns(executed: duckdb.DuckDBPyConnection) -> list[str]:
    return [str(column[0]) for column in executed.description or ()]


def _batches(executed: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[Any, ...]]]:
    while found := executed.fetchmany(ROWS_AT_ONCE):
        yield found


RENDER: dict[str, Callable[[duckdb.DuckDBPyConnection, str], Iterator[bytes]]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
}
