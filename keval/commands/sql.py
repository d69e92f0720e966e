"""Ask a log questions in SQL."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from keval.commands.messages import warn
from keval.commands.options import EVERYTHING, SKIP_INVALID
from keval.errors import InputError, UsageError
from keval.ids import JsonObject
from keval.logs.collect import collected
from keval.logs.outputs import check_output, check_stdout, replaced
from keval.printable import printable_lines, spreadsheet_cell
from keval.projections.json_values import json_text, json_value
from keval.projections.log_file import LogFile

if TYPE_CHECKING:
    import duckdb

HINT = "keval sql only reads its views: -o FILE saves what a SELECT finds, --unsafe lifts the limit"


@click.command(epilog='Example: keval sql run.jsonl "SELECT condition, metric, avg(score) FROM scores GROUP BY ALL"')
@click.argument("arguments", metavar="LOG... [QUERY]", nargs=-1, required=True)
@click.option("-f", "--format", "form", type=click.Choice(["table", "csv", "json", "jsonl", "parquet"]),
              help="How the rows are written (default: by the ending of FILE; a table without -o).")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to FILE, not to stdout.")
@click.option("--overwrite", is_flag=True, help="Let -o replace a file that exists, though never a log.")
@click.option("--unsafe", is_flag=True, help="Allow every statement and every file: COPY … TO, read_csv, ATTACH, SET.")
@click.option("--print-views", is_flag=True, help="Print the views over the logs for your own DuckDB, and stop.")
@click.option("--apart", is_flag=True,
              help="Keep logs apart, though ids are equal: the column log of every view tells them apart.")  # fmt: skip
@EVERYTHING
@SKIP_INVALID
def command(
    arguments: tuple[str, ...],
    form: str | None,
    output: Path | None,
    overwrite: bool,
    unsafe: bool,
    print_views: bool,
    apart: bool,
    everything: bool,
    skip_invalid: bool,
) -> None:
    """Run a DuckDB query over logs (- reads stdin).

    Views: runs, responses, judgments, failures, scores, tool_calls, sample_scores,
    condition_scores, costs, missing. The query is one SELECT over them, and cannot touch other
    files, unless --unsafe is given.
    """
    from keval import projections

    taken = {"everything": everything, "apart": apart}
    if print_views:
        click.echo(projections.views_sql(_named(arguments), **taken))
        return
    *names, query = arguments
    if not names or query.endswith(".jsonl"):
        raise UsageError('the last argument is the query: keval sql LOG "SELECT …"')
    form = form or _by_ending(output)
    if form == "parquet" and output is None:
        raise UsageError("-f parquet is a file: name it with -o FILE")
    logs = [Path(name) for name in names]
    if output is None:
        with collected(logs, warn, skip_invalid=skip_invalid) as files:
            _answer(files, query, form, None, taken, unsafe=unsafe)
        return
    may_replace = _replaceable(output, overwrite=overwrite)
    check_output(output, logs, may_replace)  # before the logs are read, which takes minutes if they are large
    with (
        collected(logs, warn, skip_invalid=skip_invalid) as files,
        replaced(output, logs, may_replace) as temporary,
    ):
        _answer(files, query, form, temporary, taken, unsafe=unsafe)


def _by_ending(output: Path | None) -> str:
    """Return the format that a file's ending names; without a file a table for people. Raises UsageError."""
    if output is None:
        return "table"
    ending = output.suffix.removeprefix(".")
    if ending not in {*RENDER, "parquet"}:
        raise UsageError(f"{output}: its ending names no format; give one with -f, such as -f csv")
    return ending


def _replaceable(output: Path, *, overwrite: bool) -> Callable[[bytes], bool]:
    """Return what says whether an existing file, which is no log, may be replaced."""

    def check(_: bytes) -> bool:
        if not overwrite:
            raise UsageError(f"{output} exists; --overwrite replaces it")
        return True

    return check


def _named(arguments: tuple[str, ...]) -> list[LogFile]:
    """Return the logs that views can be made over: files, which stdout does not lead into."""
    logs = [Path(name) for name in arguments]
    check_stdout(logs, "write to another file")
    for log in logs:
        if not log.is_file():
            raise InputError(
                f"{log}: no such file; --print-views names its logs in the views, so it needs them as files"
            )
    return [LogFile(log.resolve(), str(log)) for log in logs]


def _answer(
    logs: Sequence[LogFile], query: str, form: str, target: Path | None, taken: Mapping[str, bool], *, unsafe: bool
) -> None:
    """Run a query over files with valid events, and write what it finds to a file or to stdout."""
    import duckdb

    from keval import projections
    from keval.projections import read_only
    from keval.projections.sql_file import literal

    statement = read_only.bare(query)
    with projections.connect(logs, **taken) as connection:
        try:
            if not unsafe:
                if not read_only.writes_nothing(connection, statement):
                    raise UsageError(f"the query is not one SELECT that only reads; {HINT}")
                read_only.lock(connection, [*(log.path for log in logs), *([] if target is None else [target])])
            if form == "parquet" and target is not None:
                file = literal(str(target.resolve()))
                connection.execute(f"COPY (\n{statement}\n) TO {file} (FORMAT parquet, USE_TMP_FILE false)")
            elif form in RENDER:
                _write(RENDER[form](connection, statement), target)
        except OverflowError as error:
            raise UsageError(f"a value has no form in Python ({error}); cast it to VARCHAR") from error
        except duckdb.PermissionException as error:
            raise UsageError(*f"{error}".split("\n"), HINT) from error
        except duckdb.Error as error:
            first, *others = f"{error}".split("\n")
            raise UsageError(first, *(f"  {line}".rstrip() for line in others)) from error


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
    yield json_text(list(_objects(connection, query)), orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _jsonl(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[bytes]:
    for row in _objects(connection, query):
        yield json_text(row, orjson.OPT_APPEND_NEWLINE)


def _objects(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[JsonObject]:
    from keval.projections import columns_and_rows

    # Not projections.rows: its cursor would not be locked.
    columns, found = columns_and_rows(connection, query)
    return (dict(zip(columns, row, strict=True)) for row in found)


RENDER: dict[str, Callable[[duckdb.DuckDBPyConnection, str], Iterator[bytes]]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
}
