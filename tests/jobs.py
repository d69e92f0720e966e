"""Jobs for a judge that nobody asks."""

from __future__ import annotations

from keval.config.model import JudgeConfig
from keval.judges.exact_match import ExactMatch
from keval.preparation.jobs import Job
from tests.builders import response_event

JUDGE = JudgeConfig("exact", "exact_match", ExactMatch(), 1, {})


def exact_judge(replicates: int = 1, *, ignore_case: bool = True) -> JudgeConfig:
    """Return a judge that makes so many judgments of each response."""
    written = {"ignore_case": ignore_case}
    return JudgeConfig("exact", "exact_match", ExactMatch(ignore_case=ignore_case), replicates, written)


def job(judgment_id: str) -> Job:
    """Return a job of this id."""
    response = response_event()
    return Job(response, response, JUDGE, JUDGE.judge_id, 1, judgment_id)
