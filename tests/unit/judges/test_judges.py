from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from keval.errors import UsageError
from keval.judges import Case, Context, Judgment, Metric, ModelJudge, Score
from keval.models.messages_api import Model
from keval.models.services import Service
from tests.cases import case

SAMPLE = {"id": "s1", "question": "q", "answer": "a", "topic": "t"}


@dataclass(frozen=True, kw_only=True)
class Plain(ModelJudge):
    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (Metric("quality", 0, 1),)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - it does not look
        return Judgment({"quality": Score(1)})


class GoldenAnswerOnly(Plain):
    sample_fields: ClassVar[tuple[str, ...] | None] = ("answer",)


class Everything(Plain):
    sample_fields: ClassVar[tuple[str, ...] | None] = None


@pytest.mark.parametrize(
    ("judge", "given"),
    [(Plain, {"question": "q", "answer": "a"}), (GoldenAnswerOnly, {"answer": "a"}), (Everything, SAMPLE)],
)
def test_a_judge_is_given_the_fields_that_it_names(judge: type[Plain], given: dict[str, str]) -> None:
    """Only what it is given can make its judgments outdated."""
    assert judge(model="m").given(SAMPLE) == given


def test_a_field_that_a_sample_lacks_is_none() -> None:
    """A sample without a golden answer is a sample, too."""
    assert Plain(model="m").given({"id": "s1", "question": "q"}) == {"question": "q", "answer": None}


def test_a_case_tells_question_and_golden_answer() -> None:
    """They come from the sample; without a golden answer there is none."""
    assert (case("x", "a", "q").question, case("x", "a").golden_answer) == ("q", "a")
    assert case("x", None).golden_answer is None


def test_a_judge_that_reads_what_it_is_not_given_is_told_so() -> None:
    """Otherwise it would have one identity whatever stands there."""
    given = Case(GoldenAnswerOnly(model="m").given(SAMPLE), "x")
    assert given.golden_answer == "a"
    with pytest.raises(LookupError, match=r"the sample's 'question': its sample_fields do not name it"):
        _ = given.question


@pytest.mark.parametrize(
    "fields",
    [
        {"score": None},
        {"score": None, "not_applicable": ""},
        {"score": None, "not_applicable": " "},
        {"score": 1, "not_applicable": "no"},
        {"score": None, "not_applicable": "no", "passed": False},
        {"score": 1, "outside": True},
    ],
)
def test_a_score_is_a_number_or_not_applicable_for_a_reason(fields: dict[str, Any]) -> None:
    """Never both, and never neither."""
    with pytest.raises(ValueError, match=r"not appl|applies"):
        Score(**fields)


def test_the_options_of_a_model_reach_the_model() -> None:
    """A judge that asks a model need not pass them on itself."""
    judge = Plain(model="m", max_tokens=7, temperature=0.5, effort="low", api_key_env="KEY", timeout_s=3)
    assert judge.model_settings == Model(
        name="m",
        max_tokens=7,
        temperature=0.5,
        effort="low",
        service=Service(api_key_env="KEY"),
        timeout_s=3,
        prompt_cache=False,
    )
    assert (judge.model_name, judge.secret_names) == ("m", ("KEY",))


@pytest.mark.parametrize(("options", "said"), [({"max_tokens": 0}, "max_tokens"), ({"timeout_s": 0}, "timeout_s")])
def test_an_impossible_option_is_refused(options: dict[str, Any], said: str) -> None:
    """The message begins with the option's name."""
    with pytest.raises(UsageError, match=f"^{said}: "):
        Plain(model="m", **options)


def test_a_question_of_several_messages_is_one_text_to_a_judge() -> None:
    """All messages in order, with a blank line between them."""
    assert Case({"question": ["What is it?", "And why?"]}, "A").question == "What is it?\n\nAnd why?"
