"""Generate, judge and report in one process and one log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval.commands.messages import warn
from keval.commands.options import (
    ADDRESS,
    CHOSEN_CONDITIONS,
    CHOSEN_SAMPLES,
    CONFIG,
    EVERYTHING,
    EXECUTOR,
    FRESH,
    LIMIT,
    OUTPUT,
    RETRY_FAILED,
    SAMPLE_RATE,
    SHARD,
    SKIP_INVALID,
    RequestContext,
    requesting,
    until_options,
)
from keval.commands.report import show
from keval.commands.report_format import FORMAT_OPTION, export
from keval.config import until_section
from keval.config.reader import load
from keval.config.until_section import Given
from keval.errors import BudgetReachedError, KevalError
from keval.execution.config_session import default_log, run_all
from keval.logs.collect import collected

if TYPE_CHECKING:
    from keval.exports import Export
    from keval.preparation.request import Request


@click.command(epilog="Example: keval run eval.yaml --mock")
@CONFIG
@OUTPUT
@click.option("-f", "--format", "export_name", metavar="FORMAT", default="text", show_default=True,
              help="Format of the report on stdout.")  # fmt: skip
@FORMAT_OPTION
@requesting(
    LIMIT, CHOSEN_SAMPLES, CHOSEN_CONDITIONS, SHARD, RETRY_FAILED, FRESH, SAMPLE_RATE, EVERYTHING, EXECUTOR, ADDRESS,
    SKIP_INVALID,
)  # fmt: skip
@until_options
@click.pass_context
def command(
    context: click.Context,
    config_path: Path,
    output: Path | None,
    export_name: str,
    options: tuple[str, ...],
    asked: RequestContext,
    given: Given,
) -> None:
    """Generate, judge and report, in one process and one log.

    The log is <name>.jsonl in this folder, or <name>.mock.jsonl with --mock, unless -o names
    another. Responses are judged while later ones are still generated. The same command again does
    only what is missing. Where the budget is reached, the report is of what there is by then.
    """
    made = export(export_name, options)
    config = load(config_path)
    until = until_section.wanted(config.as_written, given)
    with asked as plain:
        request = replace(plain, until=until, complete=given.until == "complete")
        log = output or default_log(config, mock=request.mock)
        warn(f"the log is {log}")
        try:
            failed = run_all(config.sampled(request.sample_rate), log, request, warn)
        except BudgetReachedError:
            if log.exists() and log.stat().st_size:
                try:
                    _show(log, made, request)
                except KevalError as error:  # that the budget is reached has to be told all the same
                    for problem in error.problems:
                        warn(problem)
            raise
    _show(log, made, request)
    context.exit(1 if failed else 0)


def _show(log: Path, made: Export, request: Request) -> None:
    # What is left out was said when the log was read for the first time.
    with collected([log], lambda _: None, skip_invalid=request.skip_invalid) as paths:
        show(paths, made, everything=request.judge_all)
