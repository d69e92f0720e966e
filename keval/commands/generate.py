"""Ask the agent for every response that is still missing."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import (
    CONFIG,
    FRESH,
    LIMIT,
    OUTPUT,
    QUIET,
    RETRY_FAILED,
    SKIP_INVALID,
    mock_options,
    mock_service,
)
from keval.config.reader import load
from keval.execution.config_session import default_log, generate
from keval.execution.session import Request


@click.command(epilog="Example: keval generate eval.yaml -o run.jsonl")
@CONFIG
@OUTPUT
@LIMIT
@RETRY_FAILED
@FRESH
@SKIP_INVALID
@mock_options
@QUIET
@click.pass_context
def command(
    context: click.Context,
    config_path: Path,
    output: Path | None,
    limit: int | None,
    retry_failed: bool,
    fresh: bool,
    skip_invalid: bool,
    mock: bool,
    mock_latency_ms: int | None,
    mock_errors: str | None,
    quiet: bool,
) -> None:
    """Ask the agent for every response that is still missing.

    Appends to LOG what LOG does not hold yet, or writes all events to stdout in a pipe. On a
    terminal without -o the log is <name>.jsonl, or <name>.mock.jsonl with --mock. The same command
    again does only what is missing.
    """
    config = load(config_path)
    if output is None and sys.stdout.isatty():
        output = default_log(config, mock=mock)
        warn(f"writing to {output}")
    with mock_service(mock, mock_latency_ms, mock_errors) as mock_url:
        request = Request(
            mock_url=mock_url,
            limit=limit,
            retry_failed=retry_failed,
            fresh=fresh,
            skip_invalid=skip_invalid,
            quiet=quiet,
        )
        failed = generate(config, output, request, warn)
    context.exit(1 if failed else 0)
