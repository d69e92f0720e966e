"""Judges what comes in by a pipe: each response by the judges of its run, and all of it is passed through."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from keval.config.model import JudgeConfig
from keval.errors import UsageError
from keval.execution.interrupted import in_pipe
from keval.execution.job_feed import JobFeed
from keval.execution.judge_session import MOCK_IS_JUDGED, JudgeWork
from keval.execution.leftovers import leaving_nothing
from keval.execution.piped_pairs import PipedPairs
from keval.execution.progress import is_in_pipe, shown
from keval.execution.session import Session
from keval.ids import JsonObject, answer_sha256
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.passed_by import PassedBy
from keval.logs.sinks import Sink, Stdout
from keval.logs.stream import Line, read_live, standard_input
from keval.preparation.jobs import Job, jobs
from keval.preparation.keys import judge_services
from keval.preparation.pairs import baseline_id, condition_ids
from keval.scheduling import interrupt
from keval.scheduling.interrupt import Stops


def judge_pipe(work: JudgeWork) -> int:
    """Pass stdin through to stdout and judge each response as it comes in; return how many failed."""
    request, warn = work.request, work.warn
    if request.batch:
        raise UsageError("--batch needs LOG: what a batch was asked for has to be on disk before it is paid for")
    if request.cluster is not None:
        raise UsageError("--executor ray needs LOG: the judges of a pipe change with the runs that come in")
    check_stdout([STDIN], "`keval judge LOG` appends to a log")
    reader = standard_input(warn, skip_invalid=request.skip_invalid)

    async def main(stop: asyncio.Event) -> None:
        is_empty = True
        async with interrupt.stops_of(stop) as stops, asyncio.TaskGroup() as group:
            live = LiveWork(work, stdout, stops, pairs)
            async for line in read_live(reader):
                is_empty = False
                await stdout.write(line.raw)
                await live.take(line, group)
            await live.end_session()
        if is_empty and not stop.is_set():
            warn("nothing came in; if `keval generate CONFIG -o LOG` is before this, it wrote to LOG: keval judge LOG")
        live.check_budget()

    progress = shown(work.progress, quiet=request.quiet, live=not is_in_pipe())
    with progress, Stdout() as stdout, closing(PipedPairs(mock=request.mock)) as pairs, in_pipe(mock=request.mock):
        leaving_nothing(main, warn)
    return work.progress.failed


class LiveWork:
    """Judges the responses of a pipe, each by the judges that were named last before it; those given judge all.

    A `run` event of another config, as in `cat a.jsonl b.jsonl`, ends the session: what it still has in flight is
    finished first, so that no two sessions spend from one budget at once.
    """

    def __init__(self, work: JudgeWork, sink: Sink, stops: Stops, pairs: PipedPairs) -> None:
        self._work = work
        self._sink = sink
        self._stops = stops
        self._past = PassedBy()
        self._judges: Sequence[JudgeConfig] = ()
        self._conditions: dict[str, str] = {}
        """The ids of those that are in force, by their names."""
        self._pairs = pairs
        self._judged = self._past.judged(mock=work.request.mock)
        self._brought: set[str] = set()
        """What the judges were asked, as `_asked` says it."""
        self._has_told_of_mock = False
        """Whether it was said that answers of the mock are judged for money."""
        self._is_late = False
        """Whether a judgment came in of what they were asked already."""
        self._feed = JobFeed()
        self._session: Session | None = None
        self._reached: Session | None = None
        """The first one whose budget was reached; it is the command's, and nothing is paid after it."""
        self._working: asyncio.Task[None] | None = None

    async def take(self, line: Line, group: asyncio.TaskGroup) -> None:
        """Take note of an event; a response is brought to the judges."""
        event, before = line.event, self._past.newest
        self._past.add(event)
        if event["type"] == "judgment":
            self._warn_if_late(event)
        if self._session is not None:
            self._session.ledger.earlier_usd = self._past.spent_today(mock=self._session.mock).usd
        if event["type"] == "run" and event["conditions"]:
            if before is None or _other_work(before, event):
                await self.end_session()
            self._judges = self._work.judges(self._past)
            self._conditions = condition_ids(self._past.newest)
        stop = self._stops.user if self._session is None or self._working is None else self._session.judges_stop
        if event["type"] != "response" or stop.is_set() or not self._is_wanted(event):
            return
        self._judges = self._judges or self._work.judges(self._past)
        self._warn_if_of_mock(event)
        if self._working is None:
            await self._begin_session(group)
        await self._bring(self._jobs_of(line))

    def _is_wanted(self, response: JsonObject) -> bool:
        return self._work.request.chosen.has(response) and self._past.counts(response)

    def _warn_if_of_mock(self, response: JsonObject) -> None:
        """Say once that answers of the mock are judged for money."""
        if self._has_told_of_mock or self._work.request.mock or not self._past.is_mock(response):
            return
        if judge_services(self._judges):
            self._has_told_of_mock = True
            self._work.warn(MOCK_IS_JUDGED)

    def _warn_if_late(self, judgment: JsonObject) -> None:
        """Say once that answers are judged again whose judgments stand behind them."""
        if not self._is_late and judgment["id"] in self._judged and _said(judgment) in self._brought:
            self._is_late = True
            self._work.warn(
                "judgments come in behind their answers, which are judged again here: end it with Ctrl-C, and `keval "
                "judge LOG` judges only what is missing"
            )

    async def _bring(self, brought: Iterable[Job]) -> None:
        """Bring jobs to the judges, each once."""
        new = {_asked(job): job for job in brought if _asked(job) not in self._brought}
        self._brought.update(new)
        if (rest := self._feed.put(new.values())) is not None:
            await rest

    def _jobs_of(self, line: Line) -> Iterator[Job]:
        """Yield what a response gives the judges to do: those of pairs as soon as both responses of one are there."""
        response = line.event
        yield from jobs(response, self._judges, self._judged)
        baselines = self._baselines()
        if baselines and self._pairs.add(response, line.raw):
            for baseline, judges in baselines.items():
                for this, other in self._pairs.completed_by(response, baseline, self._conditions.values()):
                    yield from jobs(this, judges, self._judged, other=other)

    def _baselines(self) -> dict[str, list[JudgeConfig]]:
        """Return the judges of pairs by the id of the condition with which they compare."""
        found: dict[str, list[JudgeConfig]] = {}
        for judge in self._judges:
            if (baseline := baseline_id(judge, self._conditions)) is not None:
                found.setdefault(baseline, []).append(judge)
        return found

    async def end_session(self) -> None:
        """Finish what the judges were brought, if they were brought any."""
        if self._working is not None:
            baselines = self._baselines()
            for this, other in self._pairs.left(baselines, self._conditions.values()):
                await self._bring(jobs(this, baselines[other["condition_id"]], self._judged, other=other))
            self._feed.close()
            await self._working
            self._working = None
            if self._reached is None and self._session is not None and self._session.ledger.refused:
                self._reached = self._session

    def check_budget(self) -> None:
        """Raise BudgetReachedError if a judgment was refused."""
        if self._reached is not None:
            self._reached.check_budget()

    async def _begin_session(self, group: asyncio.TaskGroup) -> None:
        session = await self._work.session(self._judges, self._past, self._sink, self._stops)
        if self._session is not None:  # a budget is the command's
            session.ledger.go_on_after(self._session.ledger)
        self._session, self._feed = session, JobFeed()
        self._working = group.create_task(session.judging(self._work.progress).work_off_feed(self._feed))


def _asked(job: Job) -> str:
    """Return what tells a job from others."""
    return _key(job.judgment_id, None if job.other is None else answer_sha256(job.other["text"]))


def _said(judgment: JsonObject) -> str:
    """Return what tells the job of a judgment from others."""
    return _key(judgment["id"], judgment.get("other_answer_sha256"))


def _key(judgment_id: str, other_sha256: str | None) -> str:
    """Return an id with the hash of the other answer: that of a judgment of a pair says only whose it is."""
    return judgment_id if other_sha256 is None else f"{judgment_id} {other_sha256}"


def _other_work(before: JsonObject, run: JsonObject) -> bool:
    """Return whether a run names other judges than the one before it, or another way to let them work."""
    return any(run[name] != before[name] for name in ("judges", "config_sha256"))
