"""The work of a config: what its log lacks is generated and, for `keval run`, judged as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from keval.config.model import Config, JudgeConfig
from keval.errors import UsageError
from keval.events import encode, new_run_id
from keval.execution import interrupt
from keval.execution.answering import Answerer
from keval.execution.changes import changes
from keval.execution.current_responses import current_responses
from keval.execution.estimate import estimate, ledger
from keval.execution.executors import Executor, InProcess, in_process
from keval.execution.identification import identify, offered
from keval.execution.job_feed import JobFeed
from keval.execution.jobs import Backlog, Job, jobs
from keval.execution.preparation import (
    Prepared,
    check_agent_keys,
    check_judge_keys,
    end_orphans,
    end_unmarked,
    prepare,
    set_up,
)
from keval.execution.progress import Progress, shown
from keval.execution.recording import EncodedEvent
from keval.execution.run_events import is_recorded, run_event, run_records
from keval.execution.session import Request, Session, Warn
from keval.execution.tasks import TaskList, WorkList, work_list
from keval.logs import history
from keval.logs.history import History
from keval.logs.outputs import check_stdout
from keval.logs.samples import NewestRecords
from keval.logs.stream import Announced, Sink, Stdout
from keval.logs.writer import open_log
from keval.processes import environment


def generate(config: Config, log: Path | None, request: Request, warn: Warn, executor: Executor | None = None) -> int:
    """Ask the agent for every response that a log lacks, or for all of them in a pipe.

    `executor` does the work elsewhere. Returns how many tasks failed, now, or in earlier runs if these are not
    tried again.
    """
    prepared = prepare(config, request.mock_url, request.limit, log, warn=warn)
    set_up(prepared)  # what is missing is told before anything is written
    with _sink(log, prepared.inputs, warn) as sink:
        return ConfigWork(prepared, sink, past(log, request, warn), request, warn, executor=executor).do()


def run_all(config: Config, log: Path, request: Request, warn: Warn, executor: Executor | None = None) -> int:
    """Generate what a log lacks and judge it as it comes, and between that what earlier runs left unjudged.

    `executor` does the work elsewhere. Returns how many tasks and judgments failed, as `generate` does.
    """
    prepared = prepare(config, request.mock_url, request.limit, log, warn=warn)
    set_up(prepared)
    check_stdout((log, *prepared.inputs), "send the report to another file")
    with open_log(log, ("generate", "judge"), warn, prepared.inputs) as sink:
        found = past(log, request, warn)
        return ConfigWork(prepared, sink, found, request, warn, judges=config.judges, executor=executor).do()


def default_log(config: Config, *, mock: bool) -> Path:
    """Return the log of a run that names none; a mock run has one of its own."""
    return Path(f"{config.name}.mock.jsonl" if mock else f"{config.name}.jsonl")


def past(log: Path | None, request: Request, warn: Warn) -> History:
    """Return what a log holds; what stood in lines that are left out is asked for again, and that is said."""
    if log is None:
        return History()
    found = history.of_log(log, warn, skip_invalid=request.skip_invalid)
    if found.skipped:
        lines = "1 line was" if found.skipped == 1 else f"{found.skipped} lines were"
        warn(f"{log}: {lines} skipped; a response that stood there is asked for again")
    return found


@contextmanager
def _sink(output: Path | None, inputs: Sequence[Path], warn: Warn) -> Iterator[Sink]:
    if output is not None:
        if output.suffix in {".yaml", ".yml"}:
            raise UsageError(f"{output} looks like a config; -o names the log that is appended to")
        with open_log(output, ("generate",), warn, inputs) as log:
            yield log
        return
    check_stdout(inputs, "-o LOG appends to a log")
    stdout = Stdout()
    try:
        yield stdout
    finally:
        stdout.close()


@dataclass
class ConfigWork:
    """What one command does for a config."""

    prepared: Prepared
    sink: Sink
    past: History
    request: Request
    warn: Warn
    judges: Sequence[JudgeConfig] = ()
    """Those that judge at once; none if the responses are only generated."""
    executor: Executor | None = None
    """Who does the work; None for this process."""
    generated: Progress = field(default_factory=lambda: Progress("generate"))
    judged: Progress = field(default_factory=lambda: Progress("judge"))
    failed_before: int = 0
    """Tasks that failed in earlier runs and are not tried again."""

    def do(self) -> int:
        """Do what is missing; return how many tasks and judgments failed."""
        with shown(self.generated, self.judged, quiet=self.request.quiet):
            interrupt.run(self._do, self.warn)
        return self.generated.failed + self.judged.failed + self.failed_before

    async def _do(self, stop: asyncio.Event) -> None:
        self.sink.tell(stop)
        await self._identify()
        work = self._decide()
        must_announce = len(work.remaining) > 0 or not is_recorded(self.prepared, self.past)
        run_id = new_run_id()
        announcement = self._announcement(run_id)
        session = self._session(run_id, announcement, stop)
        backlog = self._backlog(work)
        if must_announce:
            await check_agent_keys(self.prepared)
        if self.judges and (work.remaining or backlog.planned):
            await check_judge_keys(self.prepared)
        if must_announce:
            await announcement.announce()
        await self._work(session, work.remaining, backlog)
        await end_unmarked(self.warn)
        session.ledger.check()

    async def _identify(self) -> None:
        """Find out what the config's servers are, and say what changed and is asked again for it."""
        await end_orphans(self.prepared, self.warn)
        newest = self.past.newest_run(self.prepared.config.name, mock=self.request.mock)
        self.prepared = identify(self.prepared, await offered(self.prepared), newest)
        changed = changes(newest, self.prepared, self.past)
        if changed is not None:
            self.warn(changed)

    def _decide(self) -> WorkList:
        """Return the tasks, and tell the progress how many remain."""
        config, samples = self.prepared.config, self.prepared.samples
        work = work_list(config, samples, to_skip(self.past, config, self.request), self.past.failed)
        self.failed_before = work.failed
        for name, number in work.remaining.by_condition().items():
            self.generated.plan(name, number)
        if not work.remaining and work.failed:
            tasks = "1 task" if work.failed == 1 else f"{work.failed} tasks"
            told = f"{tasks} failed earlier and will not be tried again; every other has its response"
            self.warn(f"nothing to generate: {told}")
        elif not work.remaining:
            self.warn("nothing to generate: every task has its response")
        return work

    def _announcement(self, run_id: str) -> Announced:
        """Return the sink that first writes down what this run plans, and the samples that changed."""
        command = "run" if self.judges else "generate"
        records = [run_event(self.prepared, command, run_id), *run_records(self.prepared, self.past, run_id)]
        for record in records:
            self.past.add_written(record)
        return Announced(self.sink, *records)

    def _backlog(self, work: WorkList) -> Backlog:
        """Return what the judges have to do for responses of earlier runs, and tell the progress how much that is."""
        there, log = self.past.responses, self.prepared.log or Path()
        if self.request.judge_all:
            asked = {task.response_id for task in work.remaining}
            current = current_responses(log, self.past, everything=True) if there else set()
            responses: Iterable[str] = current - asked
        else:
            responses = (task.response_id for task in work.skipped if task.response_id in there)
        planned = zip(self.prepared.question_ids, self.prepared.samples, strict=True)
        dataset = dict(planned) if self.judges else {}
        records = NewestRecords(log, self.past, dataset)
        backlog = Backlog(records, responses if self.judges else (), self.judges, mock=self.request.mock)
        for name, number in backlog.planned.items():
            self.judged.plan(name, number)
        if backlog.planned:
            missing = ", ".join(f"{number} by {name}" for name, number in backlog.planned.items())
            self.warn(f"responses of earlier runs lack judgments, which will be made: {missing}")
        return backlog

    def _session(self, run_id: str, sink: Sink, stop: asyncio.Event) -> Session:
        config, mock = self.prepared.config, self.request.mock
        today = self.past.spent_today(mock=mock)
        # Only of those who are asked: an unknown price of any other one must not refuse the budget.
        estimates = estimate(self.prepared, self.past.costs, self.judges)
        return Session(
            run_id=run_id,
            sink=sink,
            executor=self.executor or config_executor(self.prepared, self.judges),
            ledger=ledger(estimates, config.execution, today, self.warn),
            execution=config.execution,
            prices=config.prices,
            secrets=config.secrets,
            mock=mock,
            stop=stop,
        )

    async def _work(self, session: Session, tasks: TaskList, backlog: Backlog) -> None:
        """Let both stages work side by side, until all is done."""
        feed = JobFeed(backlog)

        async def judge_soon(encoded: EncodedEvent) -> None:
            for job in self._jobs_of(encoded):
                await feed.put(job)

        async with asyncio.TaskGroup() as group:
            if self.judges:
                group.create_task(session.judging(self.judged).work_off_feed(feed))
            on_written = judge_soon if self.judges else None
            await session.generation(self.prepared.config, self.generated, on_written).work_off(tasks)
            await feed.close()

    def _jobs_of(self, encoded: EncodedEvent) -> Iterator[Job]:
        """Yield what the judges have to do for a response that was just written.

        It is taken as a resume will read it, and judged as the agent gave it: a judgment's id is made from the text
        that the log has, but a secret that is also the right word must not make its answer wrong.
        """
        if encoded.event["type"] != "response":
            return
        logged = orjson.loads(encoded.line)
        self.past.note_answer(logged)
        is_same = encoded.unredacted == encoded.event
        unredacted = logged if is_same else orjson.loads(encode(encoded.unredacted))
        for job in jobs(logged, self.judges, self.past.judgments_done(mock=self.request.mock), unredacted):
            self.judged.plan(job.judge.name, 1)
            yield job


def to_skip(past: History, config: Config, request: Request) -> AbstractSet[str]:
    """Return the ids of the responses that are not asked for again."""
    if request.fresh:
        return set()
    responses = past.responses_done(mock=request.mock)
    foreign = set() if request.mock else past.failed_in_mock
    if not request.retry_failed:
        return responses | (past.failed - foreign)
    retried = {condition.condition_id for condition in config.conditions if condition.gates.retry_gates}
    gated = {target for target, condition in past.gated.items() if condition not in retried}
    return responses | (gated - foreign)


def config_executor(prepared: Prepared, judges: Sequence[JudgeConfig]) -> InProcess:
    """Return who does the work of a config in this process."""
    config = prepared.config
    answerer = Answerer(
        agent=config.agent.agent,
        folder=config.path.parent,
        env=prepared.agent_env | prepared.mark,
        secrets=config.secrets,
        timeout_s=config.execution.timeout_s,
        idle_timeout_s=config.execution.idle_timeout_s,
    )
    judge_env = prepared.judge_env if judges else {}
    return in_process(judges, judge_env, environment.allowed(config.environ) | prepared.mark, answerer)
