"""The work of judging a log that is there already, and what judging a pipe has in common with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from shlex import quote

from keval import schema
from keval.config.import_mapping import IMPORTED
from keval.config.model import Execution, JudgeConfig
from keval.config.reader import judge_from_description, load_judge, recorded
from keval.counted import counted
from keval.errors import InputError, UsageError, Warn
from keval.events import new_run_id
from keval.execution.batch_session import with_batches
from keval.execution.budget import Ledger, ledger
from keval.execution.leftovers import leaving_nothing
from keval.execution.progress import Progress, shown
from keval.execution.session import Session
from keval.executors.batch_events import NO_BATCHES, KnownBatches, known_batches
from keval.executors.batch_executor import BatchExecutor, Workers, judge_callers
from keval.executors.executor import Executor
from keval.executors.in_process import InProcess, judge_caller_of
from keval.logs.collect import no_events
from keval.logs.costs import Spent
from keval.logs.passed_by import PassedBy
from keval.logs.past import Past, of_log
from keval.logs.redaction import redacted
from keval.logs.sinks import Announced, Sink
from keval.logs.writer import open_log
from keval.preparation.estimate import estimate_judgments, in_batches
from keval.preparation.jobs import Backlog, Job
from keval.preparation.keys import check_keys, judge_env, judge_services
from keval.preparation.pairs import configs_of
from keval.preparation.request import Request
from keval.preparation.run_events import judge_run_event, thresholds_changed
from keval.preparation.unjudged import Unjudged
from keval.processes import environment
from keval.projections.sql_file import load
from keval.sampling import Sampling
from keval.scheduling.interrupt import Stops, stops_of
from keval.secrets.checks import warn_of_weak_secrets
from keval.secrets.variables import Secrets

MOCK_IS_JUDGED = "some answers are a stand-in's, but judging them costs money; with --mock it does not"


def judge_log(path: Path, work: JudgeWork) -> int:
    """Append to a log what the judges have not judged yet; return how many failed."""
    request, warn = work.request, work.warn
    if not path.exists():
        raise InputError(f"{path}: no such log; `keval generate CONFIG -o {quote(str(path))}` makes one")
    if path.is_dir():
        raise InputError(f"{path}: is a folder")
    if path.is_file() and not path.stat().st_size:
        raise no_events(str(path))
    with (
        open_log(path, ("judge",), warn) as log,
        shown(work.progress, quiet=request.quiet),
        of_log(path, warn, skip_invalid=request.skip_invalid) as past,
    ):
        work.judge(log, past)
    return work.progress.failed


@dataclass(frozen=True, kw_only=True)
class JudgeWork:
    """What judging a log and judging a pipe have in common."""

    given: Sequence[JudgeConfig]
    """The judges that the user names; without any, the log does."""
    request: Request
    environ: Mapping[str, str]
    secrets: Secrets
    warn: Warn
    executor: Executor | None = None
    """Who does the work; by default this process."""
    progress: Progress = field(default_factory=lambda: Progress("judge"))
    files: Sequence[Path] = ()
    """Where those are that the user names."""
    stack: ExitStack = field(default_factory=ExitStack)
    """What ends with the command."""

    @classmethod
    def of(
        cls,
        files: Sequence[Path],
        request: Request,
        environ: Mapping[str, str],
        warn: Warn,
        executor: Executor | None = None,
    ) -> JudgeWork:
        """Read the judges that the user names; `executor` does the work elsewhere."""
        schema.load_events()  # later there may be no file to read them with
        secrets = Secrets(environ)
        given = [load_judge(path, secrets=secrets) for path in files]
        return cls(
            given=given, request=request, environ=environ, secrets=secrets, warn=warn, executor=executor, files=files
        )

    def judges(self, past: Past | PassedBy) -> Sequence[JudgeConfig]:
        """Return the judges: those given, else those of the newest run of a config. Raises UsageError for none."""
        newest = past.newest or {"judges": []}
        named = [each for each in newest["judges"] if each["type"] != IMPORTED]  # nobody can ask those again
        judges = self.given or [judge_from_description(each, secrets=self.secrets) for each in named]
        if not judges:
            raise UsageError("the log names no judge; give one with -j JUDGE.yaml")
        seed, rate = newest.get("seed") or 0, self.request.sample_rate
        if rate is None and not self.given:
            return judges
        # What a file says of a judge has no seed: it is the run's.
        return [replace(judge, sampling=Sampling(rate or judge.sampling.rate, seed)) for judge in judges]

    def _on_cluster(
        self, judges: Sequence[JudgeConfig], execution: Execution, past: Past | PassedBy, here: Executor
    ) -> Executor | None:
        """Return who does the work on a cluster, if the user wants it done there."""
        if self.request.cluster is None or not isinstance(past, Past):
            return None
        from keval.executors.ray_executor import ray_executor, work_of_judges

        work = work_of_judges(
            judges, past, self.files, self.secrets, at_once=execution.max_concurrent, mock_url=self.request.mock_url
        )
        return self.stack.enter_context(ray_executor(self.request.cluster, work, here, self.warn))

    def judge(self, sink: Sink, past: Past) -> None:
        """Judge what stands in a log and has not been judged; `past` is what the log holds, and is closed then."""
        judges = self.judges(past)
        unjudged = Unjudged(past, judges, mock=self.request.mock, configs=configs_of(past))
        if self.request.chosen and (answered := list(past.rows(load("execution", "answered")))):
            samples, conditions = (sorted({str(row[place]) for row in answered}) for place in (0, 1))
            self.request.chosen.check_known(samples, conditions)
        everything = str(self.request.judge_all)
        responses = load("execution", "planned_responses", everything=everything)
        backlog = Backlog(past.log, unjudged.missing(self.request.chosen.of_responses(responses)), judges)
        for name, number in backlog.planned.items():
            self.progress.plan(name, number)
        if not backlog.planned:
            self.warn(f"nothing to judge: {self._why_nothing(past, unjudged)}")
            self._record_thresholds(past, sink)
            return

        self._warn_of_mock(past, responses, judges)
        known = NO_BATCHES if self.request.mock else known_batches(past)
        self._warn_of_batches(known, backlog, judges)

        async def main(stop: asyncio.Event) -> None:
            sink.tell(stop)
            async with stops_of(stop) as stops:
                session = await self.session(judges, past, sink, stops, known)
                session = replace(session, items=backlog.planned.total())
                past.close()
                if isinstance(session.executor, BatchExecutor):
                    jobs = _paid_first(backlog, known, session.ledger)
                    await self._judge_in_batches(session, session.executor, jobs)
                else:
                    await session.judging(self.progress).work_off(backlog)
                session.check_budget()

        with self.stack:
            leaving_nothing(main, self.warn)

    def _record_thresholds(self, past: Past, sink: Sink) -> None:
        """Append what the given judges are, if by them answers pass from other scores than the log says."""
        if thresholds_changed(past, self.given):
            told = redacted(judge_run_event(self.given, new_run_id(), mock=self.request.mock), self.secrets)
            asyncio.run(sink.append(told))
            self.warn("the score from which an answer passes is another one now: that was recorded")

    def _warn_of_mock(self, past: Past, responses: str, judges: Sequence[JudgeConfig]) -> None:
        """Say where answers are real and their judgments are not, or the other way round."""
        ((has_real, has_mock),) = past.rows(load("execution", "who_answered", responses=responses))
        if self.request.mock and has_real:
            self.warn(f"{past.log}: --mock adds judgments of a stand-in to a log of real ones; reports will say so")
        if not self.request.mock and has_mock and judge_services(judges):
            self.warn(f"{past.log}: {MOCK_IS_JUDGED}")

    def _warn_of_batches(self, known: KnownBatches, backlog: Backlog, judges: Sequence[JudgeConfig]) -> None:
        """Say which judgments are in open batches that nobody collects, and will be paid for again."""
        if self.request.batch:
            return
        askers = {judge.judge_id for judge in judges}
        if again := known.waiting(askers, (job.judgment_id for job in backlog)):
            number = counted(again, "judgment")
            self.warn(f"{number} in earlier batches, not collected yet, asked for again: --batch would collect them")

    async def _judge_in_batches(self, session: Session, executor: BatchExecutor, jobs: Iterable[Job]) -> None:
        """Judge until all is done; what is submitted may be left where the user wants to leave."""
        self.progress.remarks += [lambda: executor.remark, lambda: executor.held_back]
        stage = session.judging(self.progress, executor.recorded)
        left = await executor.work_off(stage.work_off(jobs), lambda: self.request.detach or session.stops.user.is_set())
        if left:
            self.warn(f"left at the service: {left}; the same command collects the results, within 29 days")

    def _why_nothing(self, past: Past, unjudged: Unjudged) -> str:
        """Return why there is nothing to judge, and how much --all would judge."""
        if not any(past.rows(load("execution", "any_response"))):
            return "the log holds no response"
        unplanned = load("execution", "unplanned_responses")
        left = len({each.response_line for each in unjudged.missing(unplanned)}) if any(past.rows(unplanned)) else 0
        if self.request.chosen:
            return "all chosen responses are judged, or no response fits the choice"
        if not left or self.request.judge_all:
            shares = any(judge.sampling.rate < 1 for judge in self.judges(past))
            share = " of the share that is judged" if shares else ""
            return f"every response{share} has its judgments{self._beside_these(past)}"
        responses = f"{counted(left, 'response')} that {'is' if left == 1 else 'are'}"
        return f"every planned response has its judgments; {responses} not in the newest plan can be judged with --all"

    def _beside_these(self, past: Past) -> str:
        """Return what has to be known of the log's other judges by somebody who wonders why there is nothing to do."""
        known = list(past.rows(load("execution", "known_judges")))
        if not self.given:
            return _beside_the_configs(past, dict.fromkeys(str(name) for _, name, is_added in known if is_added))
        names = (
            (judge.name, name) for judge in self.given for judge_id, name, _ in known if judge_id == judge.judge_id
        )
        same = [f"{given} is {name} under another name" for given, name in names if given != name]
        return "".join(f"; {each}, which replicates ask again" for each in same)

    async def session(
        self,
        judges: Sequence[JudgeConfig],
        past: Past | PassedBy,
        sink: Sink,
        stops: Stops,
        known: KnownBatches = NO_BATCHES,
    ) -> Session:
        """Return the session of these judges, whose keys the service takes; the log says how the work is done."""
        run_id, mock = new_run_id(), self.request.mock
        execution, prices = recorded((past.newest or {}).get("config"), self.warn)
        if self.request.max_concurrent is not None:
            execution = replace(execution, max_concurrent=self.request.max_concurrent)
        env = judge_env(judges, self.secrets, self.request.mock_url, self.environ)
        for warning in warn_of_weak_secrets(self.secrets):
            self.warn(warning)
        items = estimate_judgments(judges, 1, prices, past.costs())
        if self.request.batch:
            items = in_batches(items)
        today = Spent() if execution.daily_budget_usd is None else past.spent_today(mock=mock)
        made = ledger(items, execution, today, self.warn)
        await check_keys(env, judge_services(judges))
        judge_caller = judge_caller_of(judges, env, environment.allowed(self.environ), prices)
        here = InProcess(None, judge_caller)
        session = Session(
            run_id=run_id,
            sink=Announced(sink, redacted(judge_run_event(judges, run_id, mock=mock), self.secrets)),
            executor=self.executor or self._on_cluster(judges, execution, past, here) or here,
            ledger=made,
            execution=execution,
            secrets=self.secrets,
            mock=mock,
            stops=stops,
            silent_agents=past.silent_agents,
        )
        if not self.request.batch:
            session.let_free_go_on()
            return session
        workers, callers = Workers(judge_caller), judge_callers(judges, env)
        return with_batches(session, workers, callers, known, tell=self.progress.say)


def _beside_the_configs(past: Past, added: Iterable[str]) -> str:
    """Return who judges beside the judges of the config, and how much of that failed; it is asked for by the user."""
    names = ", ".join(added)
    if not names:
        return ""
    failed = {str(name): int(responses) for name, responses in past.rows(load("execution", "failed_by_added"))}
    asked = f"those that were added ({names}) are asked with -j"
    if not failed:
        return f"; {asked}"
    each = ", ".join(f"{name} {responses:,}" for name, responses in failed.items())
    return f" by the config's judges; {asked}, also for the responses that they failed to judge: {each}"


def _paid_first(backlog: Backlog, known: KnownBatches, budget: Ledger) -> Iterable[Job]:
    """Return jobs, those first that open batches hold: to collect what is paid for needs no budget.

    A judge of pairs asks once more by its first answer, which is paid for anew.
    """
    paid = known.paid({judge.judge_id for judge in backlog.judges if judge.judge.unit == "response"})
    if not paid:
        return backlog
    budget.free.update(paid)
    return chain(
        (job for job in backlog if job.judgment_id in paid), (job for job in backlog if job.judgment_id not in paid)
    )
