"""Let judges score the responses that they have not scored yet."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import click

from keval import schema
from keval.commands.messages import warn
from keval.commands.options import QUIET, SKIP_INVALID, mock_options, mock_service
from keval.config.model import JudgeConfig
from keval.config.reader import judge_from_description, load_judge, recorded
from keval.errors import UsageError
from keval.events import new_run_id
from keval.execution import interrupt
from keval.execution.estimate import empty_ledger, judges_ledger
from keval.execution.judging import Job, Judging, jobs, pending
from keval.execution.preparation import check_keys, judge_env, judge_keys, judge_run_event
from keval.execution.progress import Progress, shown
from keval.logs import history
from keval.logs.history import History
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.redaction import redacted
from keval.logs.samples import NewestRecords
from keval.logs.stream import Announced, Reader, Sink, Stdout, read_live, standard_input
from keval.logs.writer import open_log
from keval.secrets.checks import warn_of_weak_secrets
from keval.secrets.variables import Secrets


@click.command(epilog="Example: keval judge run.jsonl -j stricter.yaml")
@click.argument("log", metavar="[LOG]", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "-j", "--judge", "judge_paths", metavar="JUDGE.yaml", multiple=True, type=click.Path(path_type=Path),
    help="Judge with this instead of the judges that the log names; may be repeated.",
)  # fmt: skip
@click.option(
    "--max-concurrent", type=click.IntRange(min=1), metavar="N", help="Judgments at once (the config's, else 5)."
)
@SKIP_INVALID
@mock_options
@QUIET
@click.pass_context
def command(
    context: click.Context,
    log: Path | None,
    judge_paths: tuple[Path, ...],
    max_concurrent: int | None,
    skip_invalid: bool,
    mock: bool,
    mock_latency_ms: int | None,
    mock_errors: str | None,
    quiet: bool,
) -> None:
    """Let judges score the responses that they have not scored yet.

    With LOG, appends to it; a second call does only what is missing. Without LOG, or with -, reads
    stdin, passes every event through and adds its own as responses come in. Without -j the judges
    are those of the config that the log's newest run recorded.
    """
    schema.load_events()  # later there may be no file to read them with
    secrets = Secrets(os.environ)
    judges = [load_judge(path, secrets=secrets) for path in judge_paths]
    progress = Progress("judge")
    with mock_service(mock, mock_latency_ms, mock_errors) as mock_url, shown(progress, quiet=quiet):
        stage = Stage(judges, secrets, mock_url, progress, max_concurrent)
        if log is None or log == STDIN:
            stage.judge_stream(skip_invalid=skip_invalid)
        else:
            stage.judge_log(log, skip_invalid=skip_invalid)
    context.exit(1 if progress.failed else 0)


class Stage:
    """The `judge` stage of one call, over a log or over a pipe."""

    def __init__(
        self,
        judges: Sequence[JudgeConfig],
        secrets: Secrets,
        mock_url: str | None,
        progress: Progress,
        max_concurrent: int | None,
    ) -> None:
        self._given = list(judges)
        self._secrets = secrets
        self._mock_url = mock_url
        self._progress = progress
        self._max_concurrent = max_concurrent

    def judge_log(self, path: Path, *, skip_invalid: bool) -> None:
        """Append to a log what its judges have not judged yet."""
        if not path.exists():
            raise UsageError(f"{path}: no such log; `keval generate CONFIG -o {path}` makes one")
        with open_log(path, ("judge",), warn) as log:
            past = history.of_log(path, warn, skip_invalid=skip_invalid)
            judges = self._judges(past)
            judged = past.judgments_done(mock=self._mock_url is not None)
            records = NewestRecords(path, past)
            number = 0
            for job in pending(records, past.responses, judges, judged):
                self._progress.plan(job.judge.name, 1)
                number += 1
            if not number:
                why = "every response has its judgments" if past.responses else "the log holds no response"
                warn(f"nothing to judge: {why}")
                return

            async def main(stop: asyncio.Event) -> None:
                log.tell(stop)
                judging = self._judging(judges, log, stop, past)
                await check_keys(judging.env, judge_keys(judges))
                await judging.work_off(pending(records, past.responses, judges, judged))
                judging.ledger.check()

            interrupt.run(main, warn)

    def judge_stream(self, *, skip_invalid: bool) -> None:
        """Pass stdin through to stdout and judge each response as it comes in."""
        check_stdout([STDIN], "`keval judge LOG` appends to a log")
        reader = standard_input(warn, skip_invalid=skip_invalid)
        stdout = Stdout()

        async def main(stop: asyncio.Event) -> None:
            await self._judge_live(reader, stdout, stop)

        try:
            interrupt.run(main, warn)
        finally:
            stdout.close()

    async def _judge_live(self, reader: Reader, stdout: Stdout, stop: asyncio.Event) -> None:
        past = History()
        judged = past.judgments_done(mock=self._mock_url is not None)
        todo: asyncio.Queue[Job | None] = asyncio.Queue(maxsize=64)
        judging: Judging | None = None
        judges: list[JudgeConfig] = []
        async with asyncio.TaskGroup() as group:
            async for line in read_live(reader):
                await stdout.write(line.raw)
                past.add(line)
                if judging is not None:
                    judging.ledger.earlier_usd = past.spent_today(mock=judging.mock).usd
                if line.event["type"] == "run" and line.event["conditions"]:
                    judges = self._judges(past)
                if line.event["type"] != "response" or stop.is_set():
                    continue
                if judging is None:
                    judges = judges or self._judges(past)
                    judging = self._judging(judges, stdout, stop, past)
                    await check_keys(judging.env, judge_keys(judges))
                    group.create_task(judging.until_drained(todo))
                for job in jobs(line.event, judges, judged):
                    judged.add(job.judgment_id)
                    await todo.put(job)
            await todo.put(None)
        if judging is not None:
            judging.ledger.check()

    def _judges(self, past: History) -> list[JudgeConfig]:
        judges = self._given or [judge_from_description(each, secrets=self._secrets) for each in past.newest_judges]
        if not judges:
            raise UsageError("the log names no judge; give one with -j JUDGE.yaml")
        return judges

    def _judging(self, judges: Sequence[JudgeConfig], sink: Sink, stop: asyncio.Event, past: History) -> Judging:
        run_id = new_run_id()
        mock = self._mock_url is not None
        execution, known = recorded((past.newest_generate or {}).get("config"), warn)
        env = judge_env(judges, self._secrets, self._mock_url)
        for warning in warn_of_weak_secrets(self._secrets):
            warn(warning)
        books = empty_ledger(execution.budget_usd, execution.daily_budget_usd, past.spent_today(mock=mock), warn)
        return Judging(
            run_id=run_id,
            sink=Announced(sink, redacted(judge_run_event(judges, run_id, mock=mock), self._secrets)),
            env=env,
            mock=mock,
            progress=self._progress,
            ledger=judges_ledger(judges, books, known),
            stop=stop,
            retry=execution.retry,
            secrets=self._secrets,
            prices=known,
            max_concurrent=self._max_concurrent or execution.max_concurrent,
        )
