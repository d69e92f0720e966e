"""The work of judging what is there already: a log, or a pipe that responses come in by."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from keval import schema
from keval.config.model import JudgeConfig
from keval.config.reader import judge_from_description, load_judge, recorded
from keval.errors import UsageError
from keval.events import new_run_id
from keval.execution import interrupt
from keval.execution.current_responses import current_responses
from keval.execution.estimate import estimate_judgments, ledger
from keval.execution.executors import Executor, in_process
from keval.execution.job_feed import JobFeed
from keval.execution.jobs import Backlog, jobs, missing_by_judge
from keval.execution.preparation import check_keys, judge_env, judge_keys
from keval.execution.progress import Progress, shown
from keval.execution.run_events import judge_run_event
from keval.execution.session import Request, Session, Warn
from keval.ids import JsonObject
from keval.logs import history
from keval.logs.history import History
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.redaction import redacted
from keval.logs.samples import NewestRecords
from keval.logs.stream import Announced, Line, Sink, Stdout, read_live, standard_input
from keval.logs.writer import open_log
from keval.processes import environment
from keval.secrets.checks import warn_of_weak_secrets
from keval.secrets.variables import Secrets


def judge_log(path: Path, work: JudgeWork) -> int:
    """Append to a log what the judges have not judged yet; return how many failed."""
    request, warn = work.request, work.warn
    if not path.exists():
        raise UsageError(f"{path}: no such log; `keval generate CONFIG -o {path}` makes one")
    with open_log(path, ("judge",), warn) as log, shown(work.progress, quiet=request.quiet):
        work.judge(path, log, history.of_log(path, warn, skip_invalid=request.skip_invalid))
    return work.progress.failed


def judge_pipe(work: JudgeWork) -> int:
    """Pass stdin through to stdout and judge each response as it comes in; return how many failed."""
    request, warn = work.request, work.warn
    check_stdout([STDIN], "`keval judge LOG` appends to a log")
    reader = standard_input(warn, skip_invalid=request.skip_invalid)
    stdout = Stdout()

    async def main(stop: asyncio.Event) -> None:
        live = LiveWork(work, stdout, stop)
        async with asyncio.TaskGroup() as group:
            async for line in read_live(reader):
                await stdout.write(line.raw)
                await live.take(line, group)
            await live.end_session()
        live.check_budget()

    with shown(work.progress, quiet=request.quiet):
        try:
            interrupt.run(main, warn)
        finally:
            stdout.close()
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
        return cls(given=given, request=request, environ=environ, secrets=secrets, warn=warn, executor=executor)

    def judges(self, past: History) -> Sequence[JudgeConfig]:
        """Return the judges: those given, else those of the newest run of a config. Raises UsageError for none."""
        named = past.newest_judges
        judges = self.given or [judge_from_description(each, secrets=self.secrets) for each in named]
        if not judges:
            raise UsageError("the log names no judge; give one with -j JUDGE.yaml")
        return judges

    def judge(self, path: Path, sink: Sink, past: History) -> None:
        """Judge what stands in a log and has not been judged; `past` is what the log holds."""
        judges = self.judges(past)
        responses = current_responses(path, past, everything=self.request.judge_all)
        backlog = Backlog(NewestRecords(path, past), responses, judges, mock=self.request.mock)
        for name, number in backlog.planned.items():
            self.progress.plan(name, number)
        if not backlog.planned:
            self.warn(f"nothing to judge: {self._why_nothing(path, past, judges, responses)}")
            return

        async def main(stop: asyncio.Event) -> None:
            sink.tell(stop)
            session = await self.session(judges, past, sink, stop)
            await session.judging(self.progress).work_off(backlog)
            session.ledger.check()

        interrupt.run(main, self.warn)

    def _why_nothing(self, path: Path, past: History, judges: Sequence[JudgeConfig], looked_at: set[str]) -> str:
        """Return why there is nothing to judge, and how much --all would judge."""
        if not past.responses:
            return "the log holds no response"
        left = 0
        if not self.request.judge_all and past.responses.keys() - looked_at:
            others = current_responses(path, past, everything=True) - looked_at
            left = sum(bool(missing_by_judge(past, each, judges, mock=self.request.mock)) for each in others)
        if not left:
            return "every response has its judgments"
        responses = "1 response that is" if left == 1 else f"{left} responses that are"
        return f"every planned response has its judgments; {responses} not in the newest plan can be judged with --all"

    async def session(self, judges: Sequence[JudgeConfig], past: History, sink: Sink, stop: asyncio.Event) -> Session:
        """Return the session of these judges, whose keys the service takes; the log says how the work is done."""
        run_id, mock = new_run_id(), self.request.mock
        execution, prices = recorded((past.newest_generate or {}).get("config"), self.warn)
        if self.request.max_concurrent is not None:
            execution = replace(execution, max_concurrent=self.request.max_concurrent)
        env = judge_env(judges, self.secrets, self.request.mock_url, self.environ)
        for warning in warn_of_weak_secrets(self.secrets):
            self.warn(warning)
        items = estimate_judgments(judges, 1, prices, past.costs)
        made = ledger(items, execution, past.spent_today(mock=mock), self.warn)
        await check_keys(env, judge_keys(judges))
        return Session(
            run_id=run_id,
            sink=Announced(sink, redacted(judge_run_event(judges, run_id, mock=mock), self.secrets)),
            executor=self.executor or in_process(judges, env, environment.allowed(self.environ)),
            ledger=made,
            execution=execution,
            prices=prices,
            secrets=self.secrets,
            mock=mock,
            stop=stop,
        )


class LiveWork:
    """Judges the responses of a pipe, each by the judges that were named last before it; those given judge all.

    A `run` event of another config, as in `cat a.jsonl b.jsonl`, ends the session: what it still has in flight is
    finished first, so that no two sessions spend from one budget at once.
    """

    def __init__(self, work: JudgeWork, sink: Sink, stop: asyncio.Event) -> None:
        self._work = work
        self._sink = sink
        self._stop = stop
        self._past = History()
        self._judges: Sequence[JudgeConfig] = ()
        self._judged = self._past.judgments_done(mock=work.request.mock)
        self._brought: set[str] = set()
        self._feed = JobFeed()
        self._session: Session | None = None
        self._working: asyncio.Task[None] | None = None

    async def take(self, line: Line, group: asyncio.TaskGroup) -> None:
        """Take note of an event; a response is brought to the judges."""
        event, before = line.event, self._past.newest_generate
        self._past.add(line)
        if self._session is not None:
            self._session.ledger.earlier_usd = self._past.spent_today(mock=self._session.mock).usd
        if event["type"] == "run" and event["conditions"]:
            if before is None or _other_work(before, event):
                await self.end_session()
            self._judges = self._work.judges(self._past)
        if event["type"] != "response" or self._stop.is_set():
            return
        if self._working is None:
            await self._begin_session(group)
        for job in jobs(event, self._judges, self._judged):
            if job.judgment_id not in self._brought:
                self._brought.add(job.judgment_id)
                await self._feed.put(job)

    async def end_session(self) -> None:
        """Finish what the judges were brought, if they were brought any."""
        if self._working is not None:
            await self._feed.close()
            await self._working
            self._working = None

    def check_budget(self) -> None:
        """Raise BudgetReachedError if a judgment was refused."""
        if self._session is not None:
            self._session.ledger.check()

    async def _begin_session(self, group: asyncio.TaskGroup) -> None:
        self._judges = self._judges or self._work.judges(self._past)
        session = await self._work.session(self._judges, self._past, self._sink, self._stop)
        if self._session is not None:  # a budget is the command's
            session.ledger.spent_usd = self._session.ledger.spent_usd
        self._session, self._feed = session, JobFeed()
        self._working = group.create_task(session.judging(self._work.progress).work_off_feed(self._feed))


def _other_work(before: JsonObject, run: JsonObject) -> bool:
    """Return whether a run names other judges than the one before it, or another way to let them work."""
    return any(run[name] != before[name] for name in ("judges", "config_sha256"))
