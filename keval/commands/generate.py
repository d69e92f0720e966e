"""Ask the agent for every response that is still missing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import (
    ADDRESS,
    BATCH,
    CHOSEN_CONDITIONS,
    CHOSEN_SAMPLES,
    CONFIG,
    DETACH,
    EXECUTOR,
    FRESH,
    LIMIT,
    OUTPUT,
    RETRY_FAILED,
    SHARD,
    SKIP_INVALID,
    RequestContext,
    requesting,
)
from keval.config import until_section
from keval.config.reader import load
from keval.execution.config_session import default_log, generate


@click.command(epilog="Example: keval generate eval.yaml -o run.jsonl")
@CONFIG
@OUTPUT
@requesting(
    LIMIT, CHOSEN_SAMPLES, CHOSEN_CONDITIONS, SHARD, RETRY_FAILED, FRESH, BATCH, DETACH, EXECUTOR, ADDRESS, SKIP_INVALID
)
@click.pass_context
def command(context: click.Context, config_path: Path, output: Path | None, asked: RequestContext) -> None:
    """Ask the agent for every response that is still missing.

    Appends to LOG what LOG does not hold yet, or writes all events to stdout in a pipe. On a
    terminal without -o the log is <name>.jsonl, or <name>.mock.jsonl with --mock. The same command
    again does only what is missing.

    With --batch the agent `messages`, under conditions without MCP servers, is answered by Message
    Batches: half the price, within a day, mostly within an hour. The command waits; when it is
    ended, the same command goes on with its batches.
    """
    config = load(config_path)
    until = until_section.wanted(config.as_written, until_section.Given())
    with asked as plain:
        request = replace(plain, until=until)
        if output is None and sys.stdout.isatty():
            output = default_log(config, mock=request.mock)
        if output is not None:
            warn(f"the log is {output}")
        failed = generate(config, output, request, warn)
    context.exit(1 if failed else 0)
