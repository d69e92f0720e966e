from dataclasses import dataclass
from typing import Any

import pytest

from keval.errors import UsageError
from keval.judges import Case, Context, JudgeError, Judgment, Metric, Score
from keval.judges._own_code import OwnCodeJudge, given


@dataclass(frozen=True, kw_only=True)
class Says(OwnCodeJudge):
    """A judge that is never asked."""

    async def judge(self, case: Case, context: Context) -> Judgment:
        """Raise."""
        raise NotImplementedError


SAMPLE = {"id": "s1", "question": "q", "answer": "a", "topic": "t"}


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ({"pass": True}, Score(10, passed=True)),
        ({"pass": False}, Score(-10, passed=False)),
        ({"pass": True, "score": 3, "reasoning": "because"}, Score(3, "because", passed=True)),
        ({"pass": False, "score": 9.5, "reasoning": None, "outcome": None}, Score(9.5, passed=False)),
    ],
)
def test_a_verdict_is_a_score_of_the_scale(said: Any, score: Score) -> None:  # noqa: ANN401 - any JSON value
    """Whether it passes is what it says; the score is that, or an end of the scale."""
    judge = Says(min=-10, max=10)
    assert judge.read(said).scores == {"score": score}
    assert judge.metrics == (Metric("score", -10, 10, type="continuous"),)


def test_the_outcome_is_kept() -> None:
    """Whatever is in it."""
    assert Says().read({"pass": True, "outcome": {"tests": [1, 2]}}).outcome == {"tests": [1, 2]}


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([], "expected an object"),
        ({}, "'pass' or 'score' is missing"),
        ({"pass": "yes"}, "expected true or false"),
        ({"pass": True, "score": 1.2}, "its score, 1.2, is outside 0 to 1"),
        ({"pass": True, "passes": True}, "unknown key 'passes'"),
    ],
)
def test_what_is_not_as_agreed_is_an_error(said: Any, problem: str) -> None:  # noqa: ANN401 - any JSON value
    """And never a score."""
    with pytest.raises(JudgeError, match=problem) as caught:
        Says().read(said)
    assert caught.value.kind == "judge_error"


def test_the_code_is_given_the_case() -> None:
    """Question, both answers, the agent's steps, and all else of the sample."""
    judge = Says()
    case = Case(judge.given(SAMPLE), "x", ({"type": "text", "text": "x"},), ("handbook.md",))
    assert given(case) == {
        "question": "q",
        "answer": "a",
        "response": "x",
        "turns": [{"type": "text", "text": "x"}],
        "sources": ["handbook.md"],
        "metadata": {"id": "s1", "topic": "t"},
        "workspace": None,
    }


def test_of_the_sample_it_may_be_given_less() -> None:
    """So that a new column makes no judgment outdated."""
    assert given(Case(Says(metadata=()).given(SAMPLE), ""))["metadata"] == {}
    assert given(Case(Says(metadata=("topic",)).given(SAMPLE), ""))["metadata"] == {"topic": "t"}


def test_options_that_make_no_sense_are_refused() -> None:
    """All at once."""
    with pytest.raises(UsageError) as caught:
        Says(min=2, pass_from=5, timeout_s=0)
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["max", "pass_from", "timeout_s"]
