"""Ask a log questions in SQL."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval.commands.caveats import warn_of_several
from keval.commands.messages import say, warn
from keval.commands.named_logs import paths_of
from keval.commands.options import EVERYTHING, PATH, SKIP_INVALID
from keval.commands.sql_output import RENDER, write
from keval.errors import InputError, UsageError
from keval.logs.collect import check_named_not_empty, collected
from keval.logs.outputs import check_output, check_stdout, replaced
from keval.projections.log_file import LogFile

if TYPE_CHECKING:
    import duckdb

HINT = "keval sql only reads its views: -o FILE saves what a SELECT finds, --unsafe lifts the limit"


@click.command(epilog='Example: keval sql run.jsonl "SELECT condition, metric, mean FROM condition_scores"')
@click.argument("arguments", metavar="LOG... [QUERY]", nargs=-1, required=True)
@click.option("-f", "--format", "form", type=click.Choice(["table", "csv", "json", "jsonl", "parquet"]),
              help="How the rows are written (default: by the ending of FILE; a table without -o).")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=PATH, help="Write to FILE, not to stdout.")
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
    """Run a DuckDB query over logs (- reads stdin, 'runs/*.jsonl' all that match).

    Without a query, lists the views with their columns: runs, responses, judgments, failures,
    scores, tool_calls, sample_scores, condition_scores, costs, missing, labels and others. The
    query is one SELECT over them, and cannot touch other files, unless --unsafe is given. @FILE is
    a query in a file, @- one on stdin. A terminal shows what fits; a file or pipe gets all.
    """
    from keval import projections

    taken = {"everything": everything, "apart": apart}
    if print_views:
        _check_views_alone(arguments, form, output)
        click.echo(projections.views_sql(_named(arguments), **taken))
        return
    names, query = _logs_and_query(arguments)
    if query is None:
        if form is not None or output is not None:
            raise UsageError("-o and -f go with a query: without one the views are listed")
        with collected(paths_of(names), warn, skip_invalid=skip_invalid) as files:
            _list_views(files)
        return
    form = form or _by_ending(output)
    if form == "parquet" and output is None:
        raise UsageError("-f parquet is a file: name it with -o FILE")
    logs = paths_of(names)
    if output is None:
        with collected(logs, warn, skip_invalid=skip_invalid) as files:
            check_named_not_empty(logs, files)
            _answer(files, query, form, None, taken, unsafe=unsafe)
        return
    may_replace = _replaceable(output, overwrite=overwrite)
    check_output(output, logs, may_replace)  # before the logs are read, which takes minutes if they are large
    with (
        collected(logs, warn, skip_invalid=skip_invalid) as files,
        replaced(output, logs, may_replace) as temporary,
    ):
        check_named_not_empty(logs, files)
        _answer(files, query, form, temporary, taken, unsafe=unsafe)


def _check_views_alone(arguments: Sequence[str], form: str | None, output: Path | None) -> None:
    """Raise UsageError for what --print-views has no use for."""
    last = arguments[-1]
    is_query = last.startswith("@") or " " in last
    if is_query and not os.path.exists(last):  # noqa: PTH110 - a Path raises for a long query
        raise UsageError("--print-views goes with logs alone: it prints the views, and answers no query")
    if form is not None or output is not None:
        raise UsageError("--print-views goes without -o and -f: it prints SQL on stdout")


def _logs_and_query(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the logs, and the query if there is one. Raises UsageError, InputError."""
    *names, last = arguments
    if last == "-" or last.endswith(".jsonl") or os.path.exists(last):  # noqa: PTH110 - a Path raises for a long query
        return list(arguments), None
    if not names:
        raise UsageError(f'{last!r} is no log; name one before the query: keval sql LOG "SELECT …"')
    return names, _query_in(last, names) if last.startswith("@") else last


def _query_in(argument: str, logs: Sequence[str]) -> str:
    """Return the query in a file `@FILE`, or on stdin."""
    name = argument.removeprefix("@")
    if name == "-" and "-" in logs:
        raise UsageError("stdin cannot be both a log and the query")
    try:
        if name == "-":
            return "" if sys.stdin is None else sys.stdin.read()
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError("the query is not UTF-8 text") from error


def _list_views(logs: Sequence[LogFile]) -> None:
    """Print what one row of each view is, and its columns."""
    from keval import projections

    with projections.connect(logs, tools=False) as connection:
        for view in projections.VIEWS:
            columns, _ = projections.columns_and_rows(connection, f"from {view} limit 0")
            said = projections.about(view).removesuffix(".").partition(". ")[0]
            say(f"{view}: {said}.")
            say(f"    {', '.join(columns)}")


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
    logs = paths_of(arguments)
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
    asked = projections.ALL if unsafe else partial(_checked, statement)
    with projections.connect(logs, **taken, tools=False, asked=asked) as connection:
        if not taken["apart"]:
            warn_of_several(connection)
        try:
            if not unsafe:
                read_only.lock(connection, [*(log.path for log in logs), *([] if target is None else [target])])
            if form == "parquet" and target is not None:
                file = literal(str(target.resolve()))
                connection.execute(f"COPY (\n{statement}\n) TO {file} (FORMAT parquet, USE_TMP_FILE false)")
            elif form in RENDER:
                write(connection, statement, form, target)
        except OverflowError as error:
            raise UsageError(f"a value has no form in Python ({error}); cast it to VARCHAR") from error
        except duckdb.PermissionException as error:
            raise UsageError(*f"{error}".split("\n"), HINT) from error
        except duckdb.OutOfMemoryException:  # the query is right
            raise
        except duckdb.Error as error:
            if projections.NO_MEMORY in str(error):
                raise MemoryError from error
            raise _refused(error) from error


def _checked(statement: str, parser: duckdb.DuckDBPyConnection) -> Collection[str]:
    """Return the views that a query reads. Raises UsageError for what is not one SELECT that only reads."""
    import duckdb

    from keval.projections import read_only

    try:
        if not read_only.writes_nothing(parser, statement):
            raise UsageError(f"the query is not one SELECT that only reads; {HINT}")
        return {*read_only.read_by(parser, statement), "run_facts"}  # which says whether there are several evaluations
    except duckdb.Error as error:
        raise _refused(error) from error


def _refused(error: Exception) -> UsageError:
    first, *others = f"{error}".split("\n")
    return UsageError(first, *(f"  {line}".rstrip() for line in others))
