"""Generate, judge and report in one process and one log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import click

from keval.commands.generate import (
    FRESH,
    LIMIT,
    RETRY_FAILED,
    default_log,
    failed_before,
    generation,
    identified,
    past,
    plan,
    to_skip,
)
from keval.commands.messages import warn
from keval.commands.options import CONFIG, OUTPUT, QUIET, SKIP_INVALID, mock_options, mock_service
from keval.commands.report import show
from keval.config.reader import load
from keval.events import new_run_id
from keval.execution import interrupt
from keval.execution.budget import Ledger
from keval.execution.estimate import ledger
from keval.execution.judging import Job, Judging, jobs, pending
from keval.execution.preparation import (
    Prepared,
    check_all_keys,
    end_unmarked,
    is_recorded,
    prepare,
    run_event,
    run_records,
    set_up,
)
from keval.execution.progress import Progress, shown
from keval.execution.tasks import remaining
from keval.ids import JsonObject
from keval.logs.collect import collected
from keval.logs.history import History
from keval.logs.outputs import check_stdout
from keval.logs.samples import NewestRecords
from keval.logs.stream import Announced, Sink
from keval.logs.writer import Log, open_log


@click.command(epilog="Example: keval run eval.yaml --mock")
@CONFIG
@OUTPUT
@click.option("-f", "--format", "export_name", metavar="FORMAT", default="text", show_default=True,
              help="Format of the report on stdout.")  # fmt: skip
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
    export_name: str,
    limit: int | None,
    retry_failed: bool,
    fresh: bool,
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
    path = output or default_log(config, mock=mock)
    stages = (Progress("generate"), Progress("judge"))
    with mock_service(mock, mock_latency_ms, mock_errors) as mock_url:
        prepared = prepare(config, mock_url, limit, path, warn=warn)
        set_up(prepared)
        inputs = (config.path, config.dataset.path)
        check_stdout((path, *inputs), "send the report to another file")
        with open_log(path, ("generate", "judge"), warn, inputs) as log, shown(*stages, quiet=quiet):
            found = past(path, skip_invalid=skip_invalid)
            prepared = identified(prepared, found)
            skipped = to_skip(found, config, mock=mock, retry_failed=retry_failed, fresh=fresh)
            left_failed = failed_before(prepared, skipped, found)
            news = plan(prepared, skipped, stages[0], left_failed) > 0 or not is_recorded(prepared, found)
            books = ledger(prepared, found.spent_today(mock=mock), warn)
            whole = Whole(prepared, log, found, skipped, stages, books, news=news)
            interrupt.run(whole.work_off, warn)
    # What is left out was said when the log was read for the first time.
    with collected([path], lambda _: None, skip_invalid=skip_invalid) as paths:
        show(paths, export_name)
    context.exit(1 if stages[0].failed or stages[1].failed or left_failed else 0)


@dataclass(frozen=True)
class Whole:
    """Both stages of one run over one log."""

    prepared: Prepared
    log: Log
    past: History
    skipped: AbstractSet[str]
    stages: tuple[Progress, Progress]
    books: Ledger
    news: bool
    """Whether there are tasks, or the log has not recorded this config yet."""

    async def work_off(self, stop: asyncio.Event) -> None:
        """Generate what is missing and judge it as it comes, after what an earlier run left unjudged."""
        config = self.prepared.config
        self.log.tell(stop)
        if self.news:
            await check_all_keys(self.prepared)
        run_id = new_run_id()
        sink = Announced(self.log, run_event(self.prepared, "run", run_id))
        if self.news:
            await sink.announce()
            for record in run_records(self.prepared, self.past, run_id):
                await sink.append(record)
                self.past.add_written(record)
        records = NewestRecords(
            self.log.path, self.past, dict(zip(self.prepared.question_ids, self.prepared.samples, strict=True))
        )
        judged = self.past.judgments_done(mock=self.prepared.mock_url is not None)
        todo: asyncio.Queue[Job | None] = asyncio.Queue(maxsize=64)

        async def judge_soon(response_jobs: Iterable[Job]) -> None:
            for job in response_jobs:
                self.stages[1].plan(job.judge.name, 1)
                await todo.put(job)

        async def on_response(response: JsonObject, unredacted: JsonObject) -> None:
            await judge_soon(jobs(response, config.judges, judged, unredacted))

        async with asyncio.TaskGroup() as group:
            group.create_task(self._judging(run_id, sink, stop).until_drained(todo))
            await judge_soon(pending(records, self._kept(), config.judges, judged))
            tasks = remaining(config, self.prepared.samples, self.skipped)
            stage = generation(self.prepared, run_id, sink, self.stages[0], self.books, stop, on_response)
            await stage.work_off(tasks)
            await todo.put(None)
        await end_unmarked(warn)
        self.books.check()

    def _kept(self) -> dict[str, int]:
        """Return the responses of earlier runs that are not asked for again, with their lines."""
        return {found: line for found, line in self.past.responses.items() if found in self.skipped}

    def _judging(self, run_id: str, sink: Sink, stop: asyncio.Event) -> Judging:
        execution = self.prepared.config.execution
        return Judging(
            run_id=run_id,
            sink=sink,
            env=self.prepared.judge_env,
            mock=self.prepared.mock_url is not None,
            progress=self.stages[1],
            ledger=self.books,
            stop=stop,
            retry=execution.retry,
            max_concurrent=execution.max_concurrent,
            secrets=self.prepared.config.secrets,
            prices=self.prepared.config.prices,
        )
