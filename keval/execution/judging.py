"""Lets judges score responses that they have not scored yet, and writes one event per verdict.

The judge works on saved responses: the agent is not needed, and a judge's failure leaves the
response as it was. One judgment is made per response, judge and replicate.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from keval.config.model import JudgeConfig
from keval.errors import ItemError
from keval.events import event, failure_id
from keval.execution.stage import Stage, Work, attempt_record, usage_field
from keval.ids import JsonObject, given_sha256, judgment_id
from keval.judges import Case, JudgeError, Score, Verdict
from keval.logs.samples import NewestRecords
from keval.logs.stream import read
from keval.models.prices import Prices, load
from keval.processes import machine
from keval.usage import Usage


@dataclass(frozen=True, slots=True)
class Job:
    """What one judge has to do once: one response, one replicate."""

    response: JsonObject
    """The response as the log has it."""
    unredacted: JsonObject
    """The response as the agent gave it, where that is known: what is judged."""
    judge: JudgeConfig
    judge_id: str
    replicate: int
    judgment_id: str


def jobs(
    response: JsonObject, judges: Sequence[JudgeConfig], judged: Container[str], unredacted: JsonObject | None = None
) -> list[Job]:
    """Return what the judges still have to do for one response, which is judged as the agent gave it, if known."""
    return [
        Job(response, unredacted or response, judge, judge.judge_id, replicate, target)
        for judge in judges
        for given in (given_sha256(response["sample"], judge.judge.sample_fields),)
        for replicate in range(1, judge.replicates + 1)
        if (target := judgment_id(response["id"], response["text"], given, judge.judge_id, replicate)) not in judged
    ]


def pending(
    records: NewestRecords, responses: Mapping[str, int], judges: Sequence[JudgeConfig], judged: Container[str]
) -> Iterator[Job]:
    """Yield what the judges still have to do in a log, one job at a time.

    `responses` says which line of the log holds a response's last event: that one counts. It is judged by the
    newest record of its sample.
    """
    for line in read(records.log, lambda _: None, skip_invalid=True):
        if line.event["type"] == "response" and responses.get(line.event["id"]) == line.number:
            yield from jobs(records.put_into(line.event), judges, judged)


@dataclass(frozen=True, kw_only=True)
class Judging(Stage[Job]):
    """One run of the `judge` stage."""

    env: Mapping[str, str]
    """The variables that reach the Messages API."""
    prices: Prices = field(default_factory=load)
    """The shipped prices, and those of the config in place of theirs."""

    def kind(self, item: Job) -> str:
        """Return the job's judge."""
        return item.judge.name

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

    async def attempt(self, work: Work[Job]) -> JsonObject:
        """Let the judge decide once and return its judgment. Raises JudgeError."""
        verdict = await self._verdict(work.item)
        _check_scale(verdict, work.item.judge)
        return self._judgment(work, verdict)

    async def _verdict(self, job: Job) -> Verdict:
        response = job.unredacted
        case = Case(
            question=response["sample"]["question"],
            golden_answer=response["sample"]["answer"],
            text=response["text"],
            sample=response["sample"],
            turns=tuple(response["turns"]),
            sources=tuple(response["sources"]),
        )
        try:
            return await job.judge.judge.judge(case, self.env)
        except JudgeError as error:
            if machine.exhausted(error) is not None:
                error.retryable = error.overloaded = True
            raise
        except Exception as error:  # foreign code: a plug-in's surprise is about this response only
            lacked = machine.exhausted(error) is not None
            told = f"{type(error).__name__}: {error}"
            raise JudgeError("judge_error", told, retryable=lacked, overloaded=lacked) from error

    def _judgment(self, work: Work[Job], verdict: Verdict) -> JsonObject:
        scales = {metric.name: metric for metric in work.item.judge.judge.metrics}
        return event(
            "judgment",
            work.item.judgment_id,
            self.run_id,
            **_coordinates(work.item),
            sample_fields=work.item.judge.judge.sample_fields,
            scores={
                name: _score_field(score, scales[name].min, scales[name].max) for name, score in verdict.scores.items()
            },
            unverified_claims=list(verdict.unverified_claims),
            outcome=None if verdict.outcome is None else dict(verdict.outcome),
            usage=usage_field(verdict.usage),
            cost_usd=self._cost_usd(work.item, verdict),
            duration_ms=work.duration_ms,
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            mock=self.mock,
        )

    def invalid(self, event: JsonObject, message: str) -> ItemError:
        """Return the error of a verdict that no log can hold."""
        usage = event["usage"] and Usage(**event["usage"])
        return JudgeError("judge_error", message, usage=usage, cost_usd=event["cost_usd"])

    def keep_cost(self, work: Work[Job], error: ItemError, *, usage: bool) -> None:
        """Take from an error all that is known of its attempt but the cost, and the usage where that is to stay."""
        if isinstance(error, JudgeError):
            known, error.cost_usd = self._known(work.item, error)
            error.usage = known if usage else None

    def failed_attempt(self, work: Work[Job], error: ItemError) -> JsonObject:
        """Return the record of an attempt that failed."""
        usage, cost_usd = self._known(work.item, error)
        return attempt_record(error, work.duration_ms, usage, cost_usd)

    def failure(self, work: Work[Job], error: ItemError) -> JsonObject:
        """Return the event of a response that got no judgment."""
        usage, cost_usd = self._known(work.item, error)
        return event(
            "failure",
            failure_id(work.item.judgment_id, self.run_id),
            self.run_id,
            stage="judge",
            kind=error.kind,
            message=error.message,
            **_coordinates(work.item),
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            cost_usd=cost_usd,
            usage=usage_field(usage),
            duration_ms=work.duration_ms,
            turns=[],
            mock=self.mock,
        )

    def _known(self, job: Job, error: ItemError) -> tuple[Usage | None, float | None]:
        """Return the tokens and the cost of an attempt that failed."""
        return (error.usage, self._cost_usd(job, error)) if isinstance(error, JudgeError) else (None, None)

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

    def invalid(message: str) -> JudgeError:
        return JudgeError("judge_invalid", message, usage=verdict.usage, cost_usd=verdict.cost_usd)

    scales = {metric.name: metric for metric in judge.judge.metrics}
    if set(verdict.scores) != set(scales):
        raise invalid(f"expected the metrics {sorted(scales)}, found {sorted(verdict.scores)}")
    for name, score in verdict.scores.items():
        if not scales[name].min <= score.score <= scales[name].max:
            raise invalid(f"{name}: {score.score!r} is outside {scales[name].min:g} to {scales[name].max:g}")
