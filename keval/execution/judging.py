"""The `judge` stage: each response, judge and replicate ends in one event, a `judgment` or a `failure`.

The judge works on saved responses: the agent is not needed, and a judge's failure leaves the
response as it was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Container
from dataclasses import dataclass, field
from typing import ClassVar

from keval.events import envelope, event, failure_id
from keval.execution.job_feed import JobFeed
from keval.execution.recording import attempts_field, usage_field
from keval.execution.stage import Stage
from keval.executors.judge_once import case_of, without_asking
from keval.executors.specs import JudgeSpec, Outcome
from keval.executors.workspaces import Kept
from keval.ids import JsonObject, answer_sha256
from keval.judges import Judgment, Score
from keval.preparation.jobs import Job
from keval.retry import Failed

UNASKED = ""
"""The account of jobs about which nobody is asked: nothing is spent on it, so no money is set aside.

A plug-in may ask somebody all the same; from then on it is held to the budget, as any account that was called free.
"""


@dataclass(frozen=True, kw_only=True)
class Judging(Stage[Job, Judgment]):
    """One run of the `judge` stage."""

    kept: Kept = field(default_factory=Kept)
    """Where the folders are in which the agent worked."""
    silent_agents: Container[str] = frozenset()
    """The ids of the agents that do not report their tool calls."""
    broken: ClassVar[str] = "judge_error"

    def row(self, item: Job) -> str:
        """Return the job's judge."""
        return item.judge.name

    def account(self, item: Job) -> str:
        """Return the id of the job's judge, or of its judgment if that is paid; `UNASKED` if nobody is asked.

        A free judge keeps its own account: what it costs after all is its own.
        """
        if item.judgment_id in self.ledger.free:
            return item.judgment_id
        return UNASKED if item.judge_id not in self.ledger.free and _asks_nobody(item) else item.judge_id

    def perform(self, item: Job) -> Awaitable[Outcome[Judgment]]:
        """Let the judge be asked once; of a sample that it is not for, nobody is asked.

        Should a judgment that is paid for fail, another attempt is one like all others.
        """
        self.ledger.free.discard(item.judgment_id)
        not_for = item.judge.not_for(item.response["sample"])
        if not_for is not None:
            return _not_applicable(item, not_for)
        return self.executor.judge(_judge_spec(item, self.kept, self.silent_agents))

    def leave(self, item: Job) -> None:
        """Give up the folder of a response that no judge looks at any more."""
        if item.judge.judge.uses_workspace:
            self.kept.judged(item.response["id"])

    async def work_off_feed(self, feed: JobFeed) -> None:
        """Do all jobs that are brought; after a stop whoever brings them is not held up."""
        await self.work_off(feed.take)
        await feed.drain()

    def event(self, item: Job, outcomes: list[Outcome[Judgment]]) -> JsonObject:
        """Return the judgment, or the failure of a response that got none."""
        failed = outcomes[-1].failed
        return self._judgment(item, outcomes) if failed is None else self._failure(item, outcomes, failed)

    def reduced(self, known: Judgment, *, cost: bool, usage: bool) -> Judgment:
        """Return a judgment of which nothing is known but its cost and usage, where these are to stay."""
        return Judgment({}, cost_usd=known.cost_usd if cost else None, usage=known.usage if usage else None)

    def _judgment(self, job: Job, outcomes: list[Outcome[Judgment]]) -> JsonObject:
        judgment = outcomes[-1].known
        scales = {metric.name: metric for metric in job.judge.judge.metrics}
        return {
            **envelope("judgment", job.judgment_id, self.recorder.run_id),
            **_coordinates(job),
            "sample_fields": job.judge.sample_fields,
            "sample_sha256": job.response["sample_sha256"],
            "answer_sha256": answer_sha256(job.response["text"]),
            **_beside(job),
            "scores": {
                name: _score_field(score, scales[name].min, scales[name].max) for name, score in judgment.scores.items()
            },
            "unverified_claims": list(judgment.unverified_claims),
            "outcome": None if judgment.outcome is None else dict(judgment.outcome),
            "usage": usage_field(judgment.usage),
            "cost_usd": judgment.cost_usd,
            "duration_ms": outcomes[-1].duration_ms,
            **attempts_field(outcomes),
            "mock": self.recorder.mock,
        }

    def _failure(self, job: Job, outcomes: list[Outcome[Judgment]], failed: Failed) -> JsonObject:
        judgment = outcomes[-1].known
        return event(
            "failure",
            failure_id(job.judgment_id, self.recorder.run_id),
            self.recorder.run_id,
            stage="judge",
            kind=failed.kind,
            message=failed.message,
            **_coordinates(job),
            **attempts_field(outcomes),
            cost_usd=judgment.cost_usd,
            duration_ms=outcomes[-1].duration_ms,
            turns=[],
            usage=usage_field(judgment.usage),
            mock=self.recorder.mock,
        )


def _asks_nobody(job: Job) -> bool:
    judge, response = job.judge.judge, job.unredacted
    if not job.judge.asks_about(job.response["sample"]):
        return True
    if job.other is not None and job.other["id"] == job.response["id"]:  # the baseline, compared with itself
        return True
    return without_asking(judge, judge.given(response["sample"]), response["text"]) is not None


async def _not_applicable(job: Job, why: str) -> Outcome[Judgment]:
    return Outcome(Judgment.outside(job.judge.judge.metrics, why), duration_ms=0)


def _judge_spec(job: Job, kept: Kept, silent_agents: Container[str]) -> JudgeSpec:
    """Return what a judge is to be asked: the response as the agent gave it, and nothing of its condition."""
    judge = job.judge.judge
    workspace = kept.of(job.response) if judge.uses_workspace else None
    reports = job.response["agent_id"] not in silent_agents
    case = case_of(judge, job.unredacted, other=job.other, workspace=workspace, reports_tool_calls=reports)
    return JudgeSpec(job.judge_id, case, job.judgment_id)


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


def _beside(job: Job) -> JsonObject:
    """Return the other response of a pair, by its id and text."""
    if job.other is None:
        return {}
    return {"other_response_id": job.other["id"], "other_answer_sha256": answer_sha256(job.other["text"])}


def _score_field(score: Score, minimum: float, maximum: float) -> JsonObject:
    return {
        "score": score.score,
        "reasoning": score.reasoning,
        "min": minimum,
        "max": maximum,
        "passed": score.passed,
        **({} if score.not_applicable is None else {"not_applicable": score.not_applicable}),
        **({"outside": True} if score.outside else {}),
    }
