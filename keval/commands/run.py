"""Generate, judge and report in one process and one log."""

from __future__ import annotations

from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import (
    CONFIG,
    EVERYTHING,
    FRESH,
    LIMIT,
    OUTPUT,
    QUIET,
    RETRY_FAILED,
    SKIP_INVALID,
    mock_options,
    mock_service,
)
from keval.commands.report import show
from keval.config.reader import load
from keval.execution.config_session import default_log, run_all
from keval.execution.session import Request
from keval.logs.collect import collected


@click.command(epilog="Example: keval run eval.yaml --mock")
@CONFIG
@OUTPUT
@click.option("-f", "--format", "export_name", metavar="FORMAT", default="text", show_default=True,
              help="Format of the report on stdout.")  # fmt: skip
@LIMIT
@RETRY_FAILED
@FRESH
@EVERYTHING
@SKIP_INVALID
@mock_options
@QUIET
@click.pass_context
def command(
    context: click.Context,
    config_path: Path,
    output: Path | None,
    export_name: str,
    limit: int | None,
    retry_failed: bool,
    fresh: bool,
    everything: bool,
    skip_invalid: bool,
    mock: bool,
    mock_latency_ms: int | None,
    mock_errors: str | None,
    quiet: bool,
) -> None:
    """Generate, judge and report, in one process and one log.

    The log is <name>.jsonl in this folder, or <name>.mock.jsonl with --mock, unless -o names
    another. Responses are judged while later ones are still generated. The same command again does
    only what is missing.
    """
    config = load(config_path)
    log = output or default_log(config, mock=mock)
    with mock_service(mock, mock_latency_ms, mock_errors) as mock_url:
        request = Request(
            mock_url=mock_url,
            limit=limit,
            retry_failed=retry_failed,
            fresh=fresh,
            judge_all=everything,
            skip_invalid=skip_invalid,
            quiet=quiet,
        )
        failed = run_all(config, log, request, warn)
    # What is left out was said when the log was read for the first time.
    with collected([log], lambda _: None, skip_invalid=skip_invalid) as paths:
        show(paths, export_name, everything=everything)
    context.exit(1 if failed else 0)
