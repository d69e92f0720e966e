"""Show people what a log says: conditions side by side, failures and costs included."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval.commands.caveats import warn_of_ungrouped
from keval.commands.messages import warn
from keval.commands.newest import chosen
from keval.commands.options import ALLOW_MIXED, EVERYTHING, LOGS, SKIP_INVALID
from keval.commands.report_format import export as made_export
from keval.commands.report_format import format_options
from keval.logs.collect import check_named_not_empty, collected
from keval.logs.outputs import STDIN, check_no_input, check_output, replaced

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from keval.exports import Export
    from keval.projections.log_file import LogFile
    from keval.reports.model import Report

    Adding = Callable[[Report, DuckDBPyConnection, Sequence[LogFile]], Report]
    """Gives a report details out of the logs that it is of."""


@click.command(epilog="Example: keval report run.jsonl -o report.md")
@LOGS
@format_options
@click.option("--by", metavar="FIELD", multiple=True,
              help="Add numbers of groups of samples, one per value of this field; a list has several.")  # fmt: skip
@EVERYTHING
@ALLOW_MIXED
@SKIP_INVALID
def command(
    logs: tuple[Path, ...],
    export_name: str | None,
    options: tuple[str, ...],
    output: Path | None,
    by: tuple[str, ...],
    everything: bool,
    allow_mixed: bool,
    skip_invalid: bool,
) -> None:
    """Show people what a log says.

    Reads logs, or stdin; where nothing is piped in, the newest log of this folder. The numbers are
    computed from the events that the newest plan of a config asks for, or with --all from all that
    are current; where the input holds only `aggregate` and `comparison` events, those are shown.
    Of several evaluations, which are configs of different names, each has its report.
    """
    read = chosen(logs)
    if output is not None:
        check_no_input(output, read or [STDIN])  # of a log it does not matter that its ending names no format
    export = made_export(export_name, options, output)
    if output is not None:
        check_output(output, read or [STDIN], export.is_own)
    with collected(read, warn, skip_invalid=skip_invalid) as files:
        check_named_not_empty(read, files)
        rendered = _rendered(files, export, everything=everything, allow_mixed=allow_mixed, by=tuple(dict.fromkeys(by)))
    _write(rendered, export, output, read)


def write(report: Report, export: Export, output: Path | None, logs: Sequence[Path]) -> None:
    """Write a report in a format to a file, which was checked, or to stdout."""
    _write(export.render(report), export, output, logs)


def _write(rendered: bytes, export: Export, output: Path | None, logs: Sequence[Path]) -> None:
    if output is None:
        _print(rendered)
        return
    with replaced(output, logs or [STDIN], export.is_own) as temporary:
        temporary.write_bytes(rendered)


def show(logs: Sequence[LogFile], export: Export, *, everything: bool) -> None:
    """Print the report of files with valid events; one of several models, or versions of them, says so on top."""
    _print(_rendered(logs, export, everything=everything, allow_mixed=True))


def _rendered(
    logs: Sequence[LogFile], export: Export, *, everything: bool, allow_mixed: bool, by: Sequence[str] = ()
) -> bytes:
    """Return the report of logs; of several evaluations, one for each."""
    adding: Adding | None = None
    if export.shows_details:
        from keval.transcripts.cases import with_answers as adding
    found = reports(logs, adding, everything=everything, allow_mixed=allow_mixed, by=by)
    return export.render(found[0]) if len(found) == 1 else export.render_all(found)


def reports(
    logs: Sequence[LogFile],
    adding: Adding | None,
    *,
    everything: bool,
    allow_mixed: bool,
    by: Sequence[str] = (),
) -> list[Report]:
    """Return the report of each evaluation of logs, of none an empty one; `adding` gives it details."""
    from keval import projections
    from keval.logs.evaluations import evaluations
    from keval.reports import builder

    with projections.connect(logs, everything=everything, texts=bool(by)) as connection:
        names = builder.evaluation_names(connection)
        if len(names) <= 1:
            return [_composed(connection, logs, adding, by, allow_mixed=allow_mixed)]
    found = []
    with evaluations(logs, names) as parts:
        for part in parts:
            with projections.connect(part, everything=everything, texts=bool(by)) as connection:
                found.append(_composed(connection, part, adding, by, allow_mixed=allow_mixed))
    return found


def _composed(
    connection: DuckDBPyConnection,
    logs: Sequence[LogFile],
    adding: Adding | None,
    by: Sequence[str],
    *,
    allow_mixed: bool,
) -> Report:
    from keval.reports import builder, mixed_answers

    mixed_answers.refuse_mixed(connection, allow=allow_mixed)
    if by:
        warn_of_ungrouped(connection, by)
    report = builder.compose(connection, builder.saved_aggregates(connection, logs), by, logs=logs)
    return report if adding is None else adding(report, connection, logs)


def with_details(report: Report, connection: DuckDBPyConnection, logs: Sequence[LogFile]) -> Report:
    """Return a report with the numbers of single samples."""
    from keval.reports.details import details

    del logs
    return replace(report, details=details(connection, report.metrics))


def _print(rendered: bytes) -> None:
    sys.stdout.buffer.write(rendered)
    sys.stdout.flush()
