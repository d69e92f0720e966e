"""Lets judges score responses that they have not scored yet, and writes one event per verdict.

The judge works on saved responses: the agent is not needed, and a judge's failure leaves the
response as it was. One judgment is made per response, judge and replicate.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keval.budget import Ledger, total_usd
from keval.config import JudgeConfig, Retry
from keval.errors import ItemError
from keval.events import event, failure_id
from keval.generate import attempt_record, milliseconds_since, usage_field
from keval.ids import JsonObject, judgment_id
from keval.judges import Case, JudgeError, Score, Verdict
from keval.prices import Prices, load
from keval.progress import Progress
from keval.run import Limiter, attempts, work_off
from keval.stream import Sink, read


@dataclass(frozen=True, slots=True)
class Job:
    """What one judge has to do once: one response, one replicate."""

    response: JsonObject
    judge: JudgeConfig
    judge_id: str
    replicate: int
    judgment_id: str


def jobs(response: JsonObject, judges: Sequence[JudgeConfig], judged: Container[str]) -> list[Job]:
    """Return what the judges still have to do for one response."""
    return [
        Job(response, judge, judge.judge_id, replicate, target)
        for judge in judges
        for replicate in range(1, judge.replicates + 1)
        if (target := judgment_id(response["id"], response["text"], judge.judge_id, replicate)) not in judged
    ]


def pending(
    path: Path, responses: Mapping[str, int], judges: Sequence[JudgeConfig], judged: Container[str]
) -> Iterator[Job]:
    """Yield what the judges still have to do in a log, one job at a time.

    `responses` says which line of the log holds a response's last event: that one counts.
    """
    for line in read(path, lambda _: None, skip_invalid=True):
        if line.event["type"] == "response" and responses.get(line.event["id"]) == line.number:
            yield from jobs(line.event, judges, judged)


@dataclass
class _Work:
    """One job while it is worked on."""

    job: Job
    started: float = field(default_factory=time.monotonic)
    failed: list[JsonObject] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """One run of the `judge` stage."""

    run_id: str
    sink: Sink
    env: Mapping[str, str]
    """The variables that reach the Messages API."""
    mock: bool
    progress: Progress
    ledger: Ledger
    stop: asyncio.Event
    """Set by the user or by a budget that is reached: no new judgments."""
    retry: Retry
    max_concurrent: int
    redact: Callable[[JsonObject], JsonObject] = lambda written: written
    prices: Prices = field(default_factory=load)
    """The shipped prices, and those of the config in place of theirs."""

    async def work_off(self, todo: Iterable[Job] | AsyncIterator[Job]) -> None:
        """Do all jobs; returns when each has its event or `stop` was set and none is in flight."""
        limiter = Limiter(self.max_concurrent)

        async def work(job: Job) -> None:
            await self._do(job, limiter)

        await work_off(todo, work, at_once=2 * self.max_concurrent, stop=self.stop)

    async def until_drained(self, todo: asyncio.Queue[Job | None]) -> None:
        """Do the jobs that a queue brings until it brings None.

        After a stop the queue is still emptied, so that whoever fills it never stands still.
        """
        ended = False

        async def brought() -> AsyncIterator[Job]:
            nonlocal ended
            while (job := await todo.get()) is not None:
                yield job
            ended = True

        await self.work_off(brought())
        while not ended:
            ended = await todo.get() is None

    async def _do(self, job: Job, limiter: Limiter) -> None:
        reserved = self.ledger.reserve(job.judge.name)
        if reserved is None:
            self.stop.set()
            return
        work = _Work(job)

        def on_retry(error: ItemError) -> None:
            work.failed.append(self._failed_attempt(error, work))

        async def judged() -> JsonObject:
            return await self._written(self._judgment(work, await self._attempt(work)))

        try:
            # The slot is held until the verdict is safe: a crash never loses more verdicts than there are slots.
            written = await attempts(judged, self.retry, limiter, on_retry)
        except JudgeError as error:
            written = await self._written(self._failure(work, error))
        self.ledger.settle(job.judge.name, reserved, total_usd(written["cost_usd"], work.failed))
        self.progress.finished(job.judge.name, failed=written["type"] == "failure", cost_usd=written["cost_usd"])

    async def _written(self, written: JsonObject) -> JsonObject:
        redacted = self.redact(written)
        await self.sink.append(redacted)
        return redacted

    async def _attempt(self, work: _Work) -> Verdict:
        work.started = time.monotonic()
        response, judge = work.job.response, work.job.judge.judge
        case = Case(
            question=response["sample"]["question"],
            golden_answer=response["sample"]["answer"],
            text=response["text"],
            sample=response["sample"],
            turns=tuple(response["turns"]),
            sources=tuple(response["sources"]),
        )
        self.progress.started(work.job.judge.name)
        try:
            verdict = await judge.judge(case, self.env)
        except JudgeError:
            raise
        except Exception as error:  # foreign code: a plug-in's surprise is about this response only
            raise JudgeError("judge_error", f"{type(error).__name__}: {error}") from error
        finally:
            self.progress.ended(work.job.judge.name)
        _check_scale(verdict, work.job.judge)
        return verdict

    def _judgment(self, work: _Work, verdict: Verdict) -> JsonObject:
        scales = {metric.name: metric for metric in work.job.judge.judge.metrics}
        return event(
            "judgment",
            work.job.judgment_id,
            self.run_id,
            **_coordinates(work.job),
            scores={
                name: _score_field(score, scales[name].min, scales[name].max) for name, score in verdict.scores.items()
            },
            unverified_claims=list(verdict.unverified_claims),
            outcome=None if verdict.outcome is None else dict(verdict.outcome),
            usage=usage_field(verdict.usage),
            cost_usd=self._cost_usd(work.job, verdict),
            duration_ms=milliseconds_since(work.started),
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            mock=self.mock,
        )

    def _failure(self, work: _Work, error: JudgeError) -> JsonObject:
        return event(
            "failure",
            failure_id(work.job.judgment_id, self.run_id),
            self.run_id,
            stage="judge",
            kind=error.kind,
            message=error.message,
            **_coordinates(work.job),
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            cost_usd=self._cost_usd(work.job, error),
            usage=usage_field(error.usage),
            duration_ms=milliseconds_since(work.started),
            turns=[],
            mock=self.mock,
        )

    def _failed_attempt(self, error: ItemError, work: _Work) -> JsonObject:
        if not isinstance(error, JudgeError):
            return attempt_record(error, None, None, work.started)
        return attempt_record(error, error.usage, self._cost_usd(work.job, error), work.started)

    def _cost_usd(self, job: Job, made: Verdict | JudgeError) -> float | None:
        """Return what the judge cost: its tokens at the config's own price for its model, else what the judge says."""
        model = job.judge.model
        if made.usage is None or not self.prices.is_own(model):
            return made.cost_usd
        return self.prices.cost_usd(model, made.usage)


def _coordinates(job: Job) -> JsonObject:
    response, judge = job.response, job.judge
    return {
        "response_id": response["id"],
        "sample_id": response["sample"]["id"],
        "condition": response["condition"],
        "condition_id": response["condition_id"],
        "repetition": response["repetition"],
        "agent_id": response["agent_id"],
        "judge": {"name": judge.name, "type": judge.type, "model": judge.model},
        "judge_id": job.judge_id,
        "replicate": job.replicate,
    }


def _score_field(score: Score, minimum: float, maximum: float) -> JsonObject:
    return {
        "score": score.score,
        "reasoning": score.reasoning,
        "min": minimum,
        "max": maximum,
        "passed": score.passed,
    }


def _check_scale(verdict: Verdict, judge: JudgeConfig) -> None:
    """Raise JudgeError unless the verdict has exactly the judge's metrics, each within its scale."""
    scales = {metric.name: metric for metric in judge.judge.metrics}
    if set(verdict.scores) != set(scales):
        raise JudgeError("judge_invalid", f"expected the metrics {sorted(scales)}, found {sorted(verdict.scores)}")
    for name, score in verdict.scores.items():
        if not scales[name].min <= score.score <= scales[name].max:
            raise JudgeError(
                "judge_invalid",
                f"{name}: {score.score!r} is outside {scales[name].min:g} to {scales[name].max:g}",
            )
