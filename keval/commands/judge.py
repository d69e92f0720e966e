"""Let judges score the responses that they have not scored yet."""

from __future__ import annotations

import os
from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import EVERYTHING, QUIET, SKIP_INVALID, mock_options, mock_service
from keval.execution.judge_session import JudgeWork, judge_log, judge_pipe
from keval.execution.session import Request
from keval.logs.outputs import STDIN


@click.command(epilog="Example: keval judge run.jsonl -j stricter.yaml")
@click.argument("log", metavar="[LOG]", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "-j", "--judge", "judge_files", metavar="JUDGE.yaml", multiple=True, type=click.Path(path_type=Path),
    help="Judge with this instead of the judges that the log names; may be repeated.",
)  # fmt: skip
@click.option(
    "--max-concurrent", type=click.IntRange(min=1), metavar="N", help="Judgments at once (the config's, else 5)."
)
@EVERYTHING
@SKIP_INVALID
@mock_options
@QUIET
@click.pass_context
def command(
    context: click.Context,
    log: Path | None,
    judge_files: tuple[Path, ...],
    max_concurrent: int | None,
    everything: bool,
    skip_invalid: bool,
    mock: bool,
    mock_latency_ms: int | None,
    mock_errors: str | None,
    quiet: bool,
) -> None:
    """Let judges score the responses that they have not scored yet.

    With LOG, appends to it; a second call does only what is missing. Without LOG, or with -, reads
    stdin, passes every event through and adds its own as responses come in; what a pipe brings is
    judged whether it is planned or not. Without -j the judges are those of the config that the
    log's newest run recorded.
    """
    with mock_service(mock, mock_latency_ms, mock_errors) as mock_url:
        request = Request(
            mock_url=mock_url,
            max_concurrent=max_concurrent,
            judge_all=everything,
            skip_invalid=skip_invalid,
            quiet=quiet,
        )
        work = JudgeWork.of(judge_files, request, os.environ, warn)
        failed = judge_pipe(work) if log is None or log == STDIN else judge_log(log, work)
    context.exit(1 if failed else 0)
