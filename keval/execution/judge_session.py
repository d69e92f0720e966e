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
from keval.execution.executors import InProcess
from keval.execution.job_feed import JobFeed
from keval.execution.jobs import Backlog, jobs
from keval.execution.preparation import check_keys, judge_env, judge_keys
from keval.execution.progress import Progress, shown
from keval.execution.run_events import judge_run_event
from keval.execution.scoring import Scorer
from keval.execution.session import Request, Session, Warn
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


def judge_log(path: Path, judge_files: Sequence[Path], request: Request, environ: Mapping[str, str], warn: Warn) -> int:
    """Append to a log what its judges, or those of the files, have not judged yet; return how many failed."""
    work = JudgeWork.of(judge_files, request, environ, warn)
    if not path.exists():
        raise UsageError(f"{path}: no such log; `keval generate CONFIG -o {path}` makes one")
    with open_log(path, ("judge",), warn) as log, shown(work.progress, quiet=request.quiet):
        work.judge(path, log, history.of_log(path, warn, skip_invalid=request.skip_invalid))
    return work.progress.failed


def judge_pipe(judge_files: Sequence[Path], request: Request, environ: Mapping[str, str], warn: Warn) -> int:
    """Pass stdin through to stdout and judge each response as it comes in; return how many failed."""
    work = JudgeWork.of(judge_files, request, environ, warn)
    check_stdout([STDIN], "`keval judge LOG` appends to a log")
    reader = standard_input(warn, skip_invalid=request.skip_invalid)
    stdout = Stdout()

    async def main(stop: asyncio.Event) -> None:
        live = LiveWork(work, stdout, stop)
        async with asyncio.TaskGroup() as group:
            async for line in read_live(reader):
                await stdout.write(line.raw)
                await live.take(line, group)
            await live.feed.close()
        if live.session is not None:
            live.session.ledger.check()

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
    progress: Progress = field(default_factory=lambda: Progress("judge"))

    @classmethod
    def of(cls, files: Sequence[Path], request: Request, environ: Mapping[str, str], warn: Warn) -> JudgeWork:
        """Read the judges that the user names."""
        schema.load_events()  # later there may be no file to read them with
        secrets = Secrets(environ)
        given = [load_judge(path, secrets=secrets) for path in files]
        return cls(given=given, request=request, environ=environ, secrets=secrets, warn=warn)

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
            why = "every response has its judgments" if past.responses else "the log holds no response"
            self.warn(f"nothing to judge: {why}")
            return

        async def main(stop: asyncio.Event) -> None:
            sink.tell(stop)
            session = await self.session(judges, past, sink, stop)
            await session.judging(self.progress).work_off(backlog)
            session.ledger.check()

        interrupt.run(main, self.warn)

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
        scorer = Scorer(
            judges={judge.judge_id: judge.judge for judge in judges},
            env=env,
            program_env=environment.allowed(self.environ),
        )
        return Session(
            run_id=run_id,
            sink=Announced(sink, redacted(judge_run_event(judges, run_id, mock=mock), self.secrets)),
            executor=InProcess(None, scorer),
            ledger=made,
            execution=execution,
            prices=prices,
            secrets=self.secrets,
            mock=mock,
            stop=stop,
        )


class LiveWork:
    """Judges the responses of a pipe; the judges and the way of working are those known when the first comes in."""

    def __init__(self, work: JudgeWork, sink: Sink, stop: asyncio.Event) -> None:
        self.feed = JobFeed()
        self.session: Session | None = None
        self._work = work
        self._sink = sink
        self._stop = stop
        self._past = History()
        self._judges: Sequence[JudgeConfig] = ()
        self._judged = self._past.judgments_done(mock=work.request.mock)
        self._brought: set[str] = set()

    async def take(self, line: Line, group: asyncio.TaskGroup) -> None:
        """Take note of an event; a response is brought to the judges."""
        event = line.event
        self._past.add(line)
        if self.session is not None:
            self.session.ledger.earlier_usd = self._past.spent_today(mock=self.session.mock).usd
        if event["type"] == "run" and event["conditions"]:
            self._judges = self._work.judges(self._past)
        if event["type"] != "response" or self._stop.is_set():
            return
        if self.session is None:
            self._judges = self._judges or self._work.judges(self._past)
            self.session = await self._work.session(self._judges, self._past, self._sink, self._stop)
            group.create_task(self.session.judging(self._work.progress).work_off_feed(self.feed))
        for job in jobs(event, self._judges, self._judged):
            if job.judgment_id not in self._brought:
                self._brought.add(job.judgment_id)
                await self.feed.put(job)
