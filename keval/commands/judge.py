"""Let judges score the responses that they have not scored yet."""

from __future__ import annotations

import os
from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import (
    ADDRESS,
    BATCH,
    CHOSEN_CONDITIONS,
    CHOSEN_SAMPLES,
    DETACH,
    EVERYTHING,
    EXECUTOR,
    MAX_CONCURRENT,
    PATH,
    PATH_OR_STDIN,
    SAMPLE_RATE,
    SHARD,
    SKIP_INVALID,
    RequestContext,
    requesting,
)
from keval.execution.judge_pipe import judge_pipe
from keval.execution.judge_session import JudgeWork, judge_log
from keval.logs.outputs import STDIN


@click.command(epilog="Example: keval judge run.jsonl -j stricter.yaml")
@click.argument("log", metavar="[LOG]", required=False, type=PATH_OR_STDIN)
@click.option(
    "-j", "--judge", "judge_files", metavar="JUDGE.yaml", multiple=True, type=PATH,
    help="Judge with this instead of the judges that the log names; may be repeated.",
)  # fmt: skip
@requesting(
    BATCH,
    DETACH,
    MAX_CONCURRENT,
    CHOSEN_SAMPLES,
    CHOSEN_CONDITIONS,
    SHARD,
    SAMPLE_RATE,
    EVERYTHING,
    EXECUTOR,
    ADDRESS,
    SKIP_INVALID,
)
@click.pass_context
def command(context: click.Context, log: Path | None, judge_files: tuple[Path, ...], asked: RequestContext) -> None:
    """Let judges score the responses that they have not scored yet.

    With LOG, appends to it; a second call does only what is missing. Without LOG, or with -, reads
    stdin, passes every event through and adds its own as responses come in; what a pipe brings is
    judged whether it is planned or not, and again if its judgment comes later in the pipe.
    Without -j the judges are those of the config that the log's newest run recorded; in a pipe,
    of each response those of the last run before it.

    With --batch the judges' models answer by Message Batches: half the price, within a day, mostly
    within an hour. The command waits; when it is ended, the same command goes on with its batches.
    """
    with asked as request:
        work = JudgeWork.of(judge_files, request, os.environ, warn)
        failed = judge_pipe(work) if log is None or log == STDIN else judge_log(log, work)
    context.exit(1 if failed else 0)
