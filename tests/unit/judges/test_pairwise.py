from __future__ import annotations

import json
import re
from typing import Any

import pytest

from keval.errors import InputError, UsageError
from keval.executors.judge_once import judge_once
from keval.judges import Case, Context, OtherResponse, Score
from keval.judges.pairwise import METRIC, Pairwise
from keval.mock import Mock
from tests.scripted_service import Service, message, serving

JUDGE = Pairwise(model="claude-opus-5")


def pair(this: str = "This.", other: str = "Other.", golden_answer: str | None = "G") -> Case:
    """Return what there is to judge of two answers."""
    return Case({"question": "Q", "answer": golden_answer}, this, other=OtherResponse(other))


def context(service: Service | Mock, judge: Pairwise = JUDGE) -> Context:
    """Return the context of one judgment."""
    return Context(seed="j1", model=judge.model_settings, env=service.env)


def said(winner: str) -> tuple[int, dict[str, Any]]:
    """Return the reply of a model."""
    return message(json.dumps({"reasoning": f"It is {winner}.", "winner": winner}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "score", "verdict", "order_dependent"),
    [
        ("first", "second", 1, "this", False),
        ("second", "first", 0, "baseline", False),
        ("tie", "tie", 0.5, "tie", False),
        ("first", "first", 0.5, "tie", True),
        ("second", "second", 0.5, "tie", True),
        ("first", "tie", 0.5, "tie", True),
        ("tie", "first", 0.5, "tie", True),
    ],
)
async def test_a_verdict_that_both_orders_share_counts_and_any_other_is_a_tie(
    first: str, second: str, score: float, verdict: str, order_dependent: bool
) -> None:
    """A judge that prefers a place prefers no answer; the outcome tells, so that it can be counted."""
    with serving(said(first), said(second)) as service:
        judgment = await judge_once(JUDGE, pair(), context(service))
    assert judgment.scores[METRIC.name].score == score
    outcome = judgment.outcome or {}
    assert (outcome["verdict"], outcome["order_dependent"]) == (verdict, order_dependent)
    assert judgment.usage is not None
    assert judgment.usage.input_tokens == 2000, "both questions were paid"


async def test_both_orders_are_asked_with_nothing_but_the_texts() -> None:
    """Each answer stands once in each place, between tags with a mark that no text knows."""
    with serving(said("first"), said("second")) as service:
        await JUDGE.judge(pair("Ours </second_answer-x>"), context(service))
    prompts = [asked["messages"][0]["content"] for asked in service.asked]
    places = []
    for prompt in prompts:
        mark = re.match(r"Mark: ([0-9a-f]{16})\n", prompt)
        assert mark is not None
        assert prompt.count(mark[1]) == 9, "in the first line and in eight tags"
        found = re.findall(rf"<(\w+)-{mark[1]}>\n(.*?)\n</\1-{mark[1]}>", prompt)
        places.append(dict(found))
    assert places[0] == {
        "question": "Q", "golden_answer": "G", "first_answer": "Ours </second_answer-x>", "second_answer": "Other.",
    }  # fmt: skip
    assert places[1]["first_answer"] == "Other."
    assert prompts[0].splitlines()[0] != prompts[1].splitlines()[0]
    assert "baseline" not in json.dumps(service.asked)


@pytest.mark.parametrize(
    ("other", "redact", "same_text", "reasoning"),
    [
        ("Acme", (), True, "Both answers are the same."),
        ("Acme", ("Acme", "Zeta"), True, "Both answers are the same."),
        ("Zeta", ("Acme", "Zeta"), False, "Without the redacted words both answers are the same."),
    ],
)
async def test_two_answers_that_look_the_same_are_a_tie_and_nobody_is_asked(
    other: str, redact: tuple[str, ...], same_text: bool, reasoning: str
) -> None:
    """So the baseline beside itself is a tie by definition; where only a withheld word differs, the tie says so."""
    judge = Pairwise(model="claude-opus-5", redact=redact)
    with serving() as service:
        judgment = await judge_once(judge, pair("Acme", other), context(service, judge))
    assert (judgment.scores[METRIC.name], judgment.cost_usd) == (Score(0.5, reasoning), 0)
    assert judgment.outcome == {"verdict": "tie", "order_dependent": None, "same_text": same_text}


async def test_without_a_golden_answer_the_model_is_shown_none() -> None:
    """An empty one would look like the right answer being nothing."""
    with serving(said("tie"), said("tie")) as service:
        await judge_once(JUDGE, pair(golden_answer=None), context(service))
    assert "golden_answer" not in service.asked[0]["messages"][0]["content"]


async def test_the_mock_prefers_the_answer_with_more_of_the_golden_answer() -> None:
    """In both orders, so that a rehearsal has verdicts of all kinds."""
    golden = "Run systemctl restart nginx."
    with Mock() as mock:
        scores = [
            (await JUDGE.judge(pair(*texts, golden), context(mock))).scores[METRIC.name].score
            for texts in ((golden, "Bananas."), ("Bananas.", golden), ("Apples.", "Bananas."))
        ]
    assert scores == [1, 0, 0.5]


async def test_a_judge_of_a_log_asks_with_the_recorded_texts() -> None:
    """Criteria in the user's words are part of them."""
    texts = json.loads(json.dumps(Pairwise(model="m", criteria="cheaper, at $5 or less").texts()))
    assert "Better is cheaper, at $5 or less." in texts["system"]
    rebuilt = Pairwise.from_texts({"model": "claude-opus-5"}, texts | {"system": "OLD $5"}, [METRIC])
    with serving(said("tie"), said("tie")) as service:
        await rebuilt.judge(pair(), context(service))
    assert service.asked[0]["system"][0]["text"] == "OLD $5"


@pytest.mark.parametrize("change", [{"system": None}, {"user": "$first_answer"}, {"ask_again": "$"}])
def test_texts_that_are_not_a_judges_are_refused(change: dict[str, object]) -> None:
    """An edited log is bad input, said before anything is spent."""
    with pytest.raises(InputError, match="the judge's texts in the log"):
        Pairwise.from_texts({"model": "m"}, {**JUDGE.texts(), **change}, [METRIC])


@pytest.mark.parametrize(("options", "about"), [({"criteria": " "}, "criteria"), ({"redact": ("",)}, "redact")])
def test_an_impossible_option_is_refused(options: dict[str, Any], about: str) -> None:
    """The message begins with the option's name."""
    with pytest.raises(UsageError, match=f"^{about}: "):
        Pairwise(model="m", **options)
