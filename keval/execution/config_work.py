"""The work of a config: what its log lacks is generated and, for `keval run`, judged as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from shlex import quote

from keval.config.model import JudgeConfig
from keval.counted import counted
from keval.errors import Warn
from keval.events import EncodedEvent, new_run_id, written
from keval.execution import mock_tools
from keval.execution.batch_session import with_batches
from keval.execution.budget import ledger
from keval.execution.identification import edited_meanwhile, failed_servers, identify, offered
from keval.execution.interrupted import asking_afresh
from keval.execution.job_feed import JobFeed
from keval.execution.leftovers import end_orphans, leaving_nothing
from keval.execution.progress import Progress, is_in_pipe, shown
from keval.execution.remaining import Remaining
from keval.execution.session import Session
from keval.execution.stopping import Stopping, both, stopping
from keval.executors.batch_events import NO_BATCHES, KnownBatches, known_batches
from keval.executors.batch_executor import BatchExecutor, Workers, agent_caller
from keval.executors.config_executor import config_answerer, config_executor
from keval.executors.executor import Executor
from keval.executors.in_process import judge_caller_of
from keval.executors.workspaces import Kept
from keval.ids import JsonObject
from keval.logs.costs import Spent
from keval.logs.past import Past, of_log
from keval.logs.sinks import Announced, Sink
from keval.preparation import recorded_plan
from keval.preparation.config_past import ConfigPast, costs_so_far
from keval.preparation.estimate import Estimate, estimate, in_batches
from keval.preparation.jobs import Backlog, Job, jobs
from keval.preparation.pairs_ahead import pairs_left, pairs_there
from keval.preparation.prepared import Prepared, with_questions
from keval.preparation.readiness import check_agent_keys, check_judge_keys
from keval.preparation.request import Request
from keval.preparation.run_events import is_recorded, plan_records, run_event
from keval.preparation.sample_changes import sample_changes, told_of_samples
from keval.preparation.tasks import TaskList, turns
from keval.preparation.unjudged import KnownIds, Unjudged
from keval.preparation.work_ahead import NOTHING_TO_GENERATE, judgments_ahead
from keval.processes import temporary
from keval.scheduling.interrupt import Stops, stops_of


@dataclass
class ConfigWork:
    """What one command does for a config."""

    prepared: Prepared
    sink: Sink
    past: Past
    """It is closed before anything is paid."""
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
    stack: ExitStack = field(default_factory=ExitStack)
    """What ends with the command."""
    known: KnownIds = field(default_factory=KnownIds)
    """Judgments of earlier answers: if one of these comes back, it is not judged again."""
    stopping: Stopping | None = None
    """When to stop before all is asked; found out once the servers are known."""
    _has_told_of_judgments: bool = False
    """Whether it was said that judgments are in open batches."""
    whole_path: Path | None = field(init=False)
    """Where the log is, from whatever folder: a function of the user's may change that in which the command runs."""

    def __post_init__(self) -> None:
        self.whole_path = self.prepared.log and self.prepared.log.absolute()

    def do(self) -> int:
        """Do what is missing; return how many tasks and judgments failed."""
        quiet, fresh = self.request.quiet, self.request.fresh
        live = self.prepared.log is not None or not is_in_pipe()
        with asking_afresh(fresh=fresh), shown(self.generated, self.judged, quiet=quiet, live=live), self.stack:
            leaving_nothing(self._do, self.warn)
        return self.generated.failed + self.judged.failed + self.failed_before

    async def _do(self, stop: asyncio.Event) -> None:
        self.sink.tell(stop)
        await self._identify()
        if not self.prepared.datasets and recorded_plan.is_done(self.prepared, self.past):
            self.warn(NOTHING_TO_GENERATE)
            return
        async with stops_of(stop) as stops:
            await self._do_what_is_missing(stops)

    async def _do_what_is_missing(self, stops: Stops) -> None:
        """Generate and judge."""
        if not self.prepared.datasets:
            self.prepared = with_questions(self.prepared, self.request.limit, warn=self.warn)
        if self.judges:
            self.stopping = stopping(self.prepared, self.past, self.request, self.warn)
            self.prepared = self.stopping.prepared if self.stopping else self.prepared
        about = ConfigPast.about(self.past, self.prepared)
        recorded = is_recorded(about)
        tasks = self._remaining(about, recorded=recorded)
        run_id = new_run_id()
        changed = list(sample_changes(about, run_id))
        backlog = self._backlog(about, tasks, changed)
        pairs = pairs_there(about, self.judges, self.request, changed, recorded=recorded)
        self._tell(judgments_ahead(about, backlog, pairs))
        must_announce = len(tasks) > 0 or not recorded or (self.stopping is not None and self.stopping.must_end)
        work_left = bool(tasks or backlog.planned or pairs.planned)
        if not (must_announce or work_left):
            return
        announcement = Announced(self.sink, *self._records(about, changed, run_id))
        session = self._session(run_id, announcement, stops, len(tasks) + backlog.planned.total())
        self._warn_of_batches(tasks, (backlog, pairs))
        if self.request.batch:
            session = self._in_batches(session, tasks)
        elif self.stopping is None:
            session.let_free_go_on()
        self.past.close()
        if must_announce:
            await check_agent_keys(self.prepared)
        if self.judges and work_left:
            await check_judge_keys(self.prepared)
        if must_announce:
            await announcement.announce()
        self.prepared.forget_question_ids()
        await self._work(session, tasks, backlog)
        await self._judge_pairs(session)
        if self.stopping is not None:
            await self.stopping.end(session, self.warn)
        session.check_budget()

    async def _identify(self) -> None:
        """Find out what the config's servers are."""
        await end_orphans(self.prepared.log, self.warn)
        newest = self.past.newest_run(self.prepared.config.name, mock=self.request.mock)
        found = await offered(self.prepared)
        for told in failed_servers(self.prepared, found):
            self.warn(told)
        if self.request.mock_url is not None:
            await mock_tools.tell_tools(self.request.mock_url, found.values())
        self.prepared = identify(self.prepared, found, newest)

    def _remaining(self, about: ConfigPast, *, recorded: bool) -> TaskList:
        """Return the tasks that are to be done, and say what is; `recorded`: all is as in the log's newest run."""
        found = Remaining.of(about, self.request, self.stopping)
        self.failed_before = found.failed_before
        for name, number in found.tasks.by_condition().items():
            self.generated.plan(name, number)
        self._tell(found.told(self.judges, recorded=recorded))
        return found.tasks

    def _tell(self, lines: Iterable[str]) -> None:
        """Say lines to the user."""
        for line in lines:
            self.warn(line)

    def _records(self, about: ConfigPast, changed: Sequence[JsonObject], run_id: str) -> Iterator[JsonObject]:
        """Yield what a run writes first: what it plans, and the samples that changed."""
        yield run_event(self.prepared, "run" if self.judges else "generate", run_id)
        yield from plan_records(about.prepared, about.past, run_id)
        yield from () if self.stopping is None else self.stopping.record(run_id)
        yield from changed

    def _backlog(self, about: ConfigPast, tasks: TaskList, changed: Sequence[JsonObject]) -> Backlog:
        """Return what the judges have to do for responses of earlier runs, and tell the progress how much that is."""
        judges = self._single_judges
        if not judges:
            return Backlog(self.past.log, (), ())
        if self.stopping is not None and self.stopping.is_stopped:  # what came in after the stop is in no number
            return Backlog(self.past.log, (), ())
        if (corrected := told_of_samples(changed, self.past, self.judges)) is not None:
            self.warn(corrected)
        unjudged = Unjudged(self.past, judges, mock=self.request.mock, changing=changed)
        fresh = self.request.fresh
        if tasks:
            self.known = unjudged.known(self.prepared.config.agent.agent_id, fresh=fresh)
        responses = about.run_responses(self.request)
        missing = unjudged.missing(self.request.chosen.of_responses(responses))
        backlog = Backlog(self.past.log, missing, judges, self.prepared.question_ids, self.prepared.samples)
        for name, number in backlog.planned.items():
            self.judged.plan(name, number)
        return backlog

    @property
    def _single_judges(self) -> list[JudgeConfig]:
        """The judges of single responses, which judge each as it comes."""
        return [judge for judge in self.judges if judge.judge.unit == "response"]

    async def _judge_pairs(self, session: Session) -> None:
        """Judge the pairs: which responses belong together is known when all are there, in the log."""
        log = self.whole_path
        if len(self._single_judges) == len(self.judges) or log is None or session.judges_stop.is_set():
            return
        with of_log(log, self.warn, skip_invalid=self.request.skip_invalid) as found:
            pairs = pairs_left(found, self.prepared.config, self.judges, self.request)
            for name, number in pairs.planned.items():
                self.judged.plan(name, number)
            await session.judging(self.judged).work_off(pairs)

    def _session(self, run_id: str, sink: Sink, stops: Stops, items: int) -> Session:
        config, mock = self.prepared.config, self.request.mock
        has_daily = config.execution.daily_budget_usd is not None
        today = self.past.spent_today(mock=mock) if has_daily else Spent()
        # Only of those who are asked: an unknown price of any other one must not refuse the budget.
        estimates: Iterable[Estimate] = estimate(self.prepared, costs_so_far(self.past, self.prepared), self.judges)
        if self.request.batch:
            estimates = in_batches(estimates)
        return Session(
            run_id=run_id,
            sink=sink,
            executor=self.executor or self._executor(),
            ledger=ledger(estimates, config.execution, today, self.warn),
            execution=config.execution,
            secrets=config.secrets,
            mock=mock,
            stops=stops,
            kept=self._kept(run_id),
            silent_agents=self._silent_agents(),
            items=items,
        )

    def _warn_of_batches(self, tasks: TaskList, backlogs: Sequence[Backlog]) -> None:
        """Say which answers and judgments are in open batches that nobody collects, and will be paid for again."""
        if self.request.batch:
            return
        asker_ids = {self.prepared.config.agent.agent_id}
        if again := self._known_batches.waiting(asker_ids, (task.response_id for task in tasks)):
            number = counted(again, "answer")
            self.warn(f"{number} in earlier batches, not collected yet, asked for again: --batch would collect them")
        if self._held and (again := len(self._held.intersection(job.judgment_id for each in backlogs for job in each))):
            self._warn_of_judgments(counted(again, "judgment"))

    def _warn_of_judgments(self, told: str) -> None:
        """Say once that judgments are paid for again, and which command would have collected them."""
        if self._has_told_of_judgments:
            return
        self._has_told_of_judgments = True
        named = {judge["judge_id"] for judge in (self.past.newest or {"judges": []})["judges"]}
        added = [
            judge.name
            for judge in self.judges
            if judge.judge_id not in named and self._known_batches.held({judge.judge_id})
        ]
        of_added = f" (those of {', '.join(added)} with -j and its file)" if added else ""
        self.warn(
            f"{told} in earlier batches, not collected yet, asked for again: `keval judge "
            f"{quote(str(self.prepared.log))} --batch` would collect them{of_added}"
        )

    def _executor(self) -> Executor:
        """Return who does the work where the user wants it done."""
        here = config_executor(self.prepared, self.judges, self.prepared.mark)
        if self.request.cluster is None:
            return here
        from keval.executors.ray_executor import ray_executor, work_of_config

        work = work_of_config(self.prepared, self.judges)
        return self.stack.enter_context(ray_executor(self.request.cluster, work, here, self.warn))

    def _in_batches(self, session: Session, tasks: TaskList) -> Session:
        """Return a session in which the agent's model answers in batches."""
        config, numbers = self.prepared.config, tasks.by_condition()
        asked = [condition for condition in config.conditions if numbers.get(condition.name)]
        answerer = config_answerer(self.prepared, self.prepared.mark)
        workers = Workers(judge_caller_of((), {}, {}, config.prices), answerer)
        callers = [agent_caller(config, asked, self.prepared.agent_env)]
        # To collect what is paid for needs no budget; the next message of a conversation is paid for anew.
        if self._paid:
            paid = (task for task in tasks if task.response_id in self._paid and len(turns(task.sample)) == 1)
            session.ledger.free.update(task.response_id for task in paid)
        return with_batches(session, workers, callers, self._known_batches, tell=self.generated.say)

    @cached_property
    def _held(self) -> set[str]:
        """The judgments that batches of earlier commands hold."""
        return self._known_batches.held({judge.judge_id for judge in self.judges})

    @cached_property
    def _paid(self) -> set[str]:
        """The responses that batches of earlier commands hold, and that are paid for."""
        return self._known_batches.paid({self.prepared.config.agent.agent_id})

    @cached_property
    def _known_batches(self) -> KnownBatches:
        """The batches of the log; none for a mock run."""
        return NO_BATCHES if self.request.mock else known_batches(self.past)

    def _silent_agents(self) -> set[str]:
        """Return the agents that do not report their tool calls: those of the log, and the config's."""
        agent = self.prepared.config.agent
        return self.past.silent_agents | (set() if agent.agent.reports_tool_calls else {agent.agent_id})

    def _kept(self, run_id: str) -> Kept:
        """Return which folders of the agent stay, and where; those that judges wait for are gone after the command."""
        config, waits = self.prepared.config, any(judge.judge.uses_workspace for judge in self.judges)
        section = config.agent.workspace
        keep_in = config.path.parent / (section.keep_in or f"{config.name}.workspaces")
        until_judged = self.stack.enter_context(temporary.folder()) if waits and section.keep != "all" else None
        return Kept(section.keep, keep_in.absolute() / run_id, until_judged)

    async def _work(self, session: Session, tasks: TaskList, backlog: Backlog) -> None:
        """Let both stages work side by side, until all is done."""
        if isinstance(session.executor, BatchExecutor):
            await self._generate_in_batches(session, session.executor, tasks)
            return
        feed = JobFeed(backlog)
        noting = None if self.stopping is None else self.stopping.noting(session)

        def judge_soon(encoded: EncodedEvent) -> Awaitable[None] | None:
            told = None if noting is None else noting(encoded)
            return both(told, feed.put(self._jobs_of(encoded, session.kept)))

        async with asyncio.TaskGroup() as group:
            if self._single_judges:
                group.create_task(session.judging(self.judged, noting).work_off_feed(feed))
            on_written = judge_soon if self._single_judges else None
            items = tasks if self.stopping is None else self.stopping.begin(session).take
            try:
                await session.generation(self.prepared.config, self.generated, on_written).work_off(items)
            finally:
                await session.executor.close()
            feed.close()
        if tasks and (edited := edited_meanwhile(self.prepared)) is not None:
            self.warn(edited)

    async def _generate_in_batches(self, session: Session, executor: BatchExecutor, tasks: TaskList) -> None:
        """Generate until all is done; what is submitted may be left where the user wants to leave."""
        self.generated.remarks += [lambda: executor.remark, lambda: executor.held_back]
        stage = session.generation(self.prepared.config, self.generated, executor.recorded)
        # First what is paid for: where the budget is reached nothing is begun any more.
        in_order = chain(
            (task for task in tasks if task.response_id in self._paid),
            (task for task in tasks if task.response_id not in self._paid),
        )
        left = await executor.work_off(
            stage.work_off(in_order if self._paid else tasks),
            lambda: self.request.detach or session.stops.user.is_set(),
        )
        if left:
            self.warn(f"left at the service: {left}; the same command collects the results, within 29 days")

    def _jobs_of(self, encoded: EncodedEvent, kept: Kept) -> Iterator[Job]:
        """Yield what the judges have to do for a response that was just written.

        It is taken as a resume will read it, and judged as the agent gave it: a judgment's id is made from the text
        that the log has, but a secret that is also the right word must not make its answer wrong.
        """
        if encoded.event["type"] != "response":
            return
        logged = encoded.event
        is_same = encoded.unredacted is logged
        unredacted = logged if is_same else written(encoded.unredacted)[0]
        brought = jobs(logged, self._single_judges, self.known, unredacted)
        kept.wait_for(logged["id"], sum(job.judge.judge.uses_workspace for job in brought))
        for job in brought:
            if job.judgment_id in self._held:  # the answer has come back in the same words
                self._warn_of_judgments("judgments")
            self.judged.plan(job.judge.name, 1)
            yield job
