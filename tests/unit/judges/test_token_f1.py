import re
from collections import Counter
from string import punctuation
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.judges import Case, Score
from keval.judges.token_f1 import TokenF1
from tests.cases import context


async def score(text: str, answer: Any) -> Score:  # noqa: ANN401 - any field of a sample
    """Return the one score of a judgment."""
    judge = TokenF1()
    judgment = await judge.judge(Case(judge.given({"answer": answer}), text), context(judge))
    return judgment.scores["token_f1"]


@pytest.mark.parametrize(
    ("text", "answer", "f1"),
    [
        ("Paris", "Paris", 1),
        ("The Paris!", "a paris", 1),
        ("It is Paris", "Paris", 0.5),
        ("Paris", "Paris in France", 0.5),
        ("London", "Paris", 0),
        ("ha ha", "ha", 2 / 3),
        ("", "Paris", 0),
        ("the", "an", 1),
        ("I am not sure, BIL-000", "BIL-100", 0),
        ("it's \u201cParis\u201d\u2014no", "its Paris no", 1),
        ("Lyon", ["Paris", "Lyon in France", "Lyon"], 1),
    ],
)
async def test_shared_words_count_as_often_as_both_have_them(text: str, answer: object, f1: float) -> None:
    """Of several golden answers the best one counts; two texts without words are the same."""
    assert (await score(text, answer)).score == pytest.approx(f1)


async def test_without_an_expected_text_it_does_not_apply() -> None:
    """That is no miss."""
    assert await score("Paris", []) == Score(None, not_applicable="the sample names no expected text", outside=True)


def f1_of_squad(text: str, answer: str) -> float:
    """Return what the script of SQuAD says of two texts of ASCII (Rajpurkar et al. 2016)."""
    words, expected = (
        Counter(
            re.sub(r"\b(a|an|the)\b", " ", "".join(each for each in one.lower() if each not in punctuation)).split()
        )
        for one in (text, answer)
    )
    shared = sum((words & expected).values())
    if not words or not expected or not shared:
        return float(words == expected)
    precision, recall = shared / sum(words.values()), shared / sum(expected.values())
    return 2 * precision * recall / (precision + recall)


WORDS = st.lists(st.sampled_from(["the", "A", "paris", "Paris", "bil", "100"]) | st.sampled_from([*punctuation, " "]))


@given(WORDS.map("".join), WORDS.map("".join))
async def test_it_is_the_f1_of_squad(text: str, answer: str) -> None:
    """So a number can be laid beside published ones."""
    if text.strip() and answer.strip():
        assert (await score(text, answer)).score == pytest.approx(f1_of_squad(text, answer))


@given(st.text(), st.text(min_size=1))
async def test_it_does_not_matter_which_text_is_the_answer(one: str, other: str) -> None:
    """F1 is symmetric, from 0 to 1, and 1 of a text and itself."""
    if one.strip() and other.strip():
        found = (await score(one, other)).score
        assert found == (await score(other, one)).score
        assert found is not None
        assert 0 <= found <= 1
        assert (await score(one, one)).score == 1
