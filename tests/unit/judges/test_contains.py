from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import UsageError
from keval.judges import Case, JudgeError, Score
from keval.judges.contains import Contains
from tests.cases import context


async def score(judge: Contains, text: str, **sample: Any) -> Score:  # noqa: ANN401 - any field of a sample
    """Return the one score of a judgment."""
    judgment = await judge.judge(Case(judge.given(sample), text), context(judge))
    return judgment.scores["contains"]


@pytest.mark.parametrize(
    ("text", "expected", "passed"),
    [
        ("It is Paris, of course.", "paris", True),
        ("I know it.", "no", False),
        ("New\n York it is", "new york", True),
        ("It costs C++ 5.", "c++", True),
        ("cafe\u0301", "caf\u00e9", True),
        ("London", "Paris", False),
        ("", "Paris", False),
        ("There are 42 of them", 42, True),
        ("中国的首都是北京市。", "北京", True),
        ("เมืองหลวงคือกรุงเทพมหานคร", "กรุงเทพ", True),
        ("使用GPT模型", "GPT", True),
        ("使用GPT4模型", "GPT", False),
    ],
)
async def test_the_golden_answer_is_found_as_whole_words(text: str, expected: str, passed: bool) -> None:
    """Case, spaces and normal form do not count; a part of a word is no word."""
    assert (await score(Contains(), text, answer=expected)).passed is passed


async def test_all_of_several_texts_are_expected_or_any() -> None:
    """A list in the sample, or in the options, is several texts; what is missing is named."""
    both = ["Paris", "Lyon"]
    assert await score(Contains(), "Paris", answer=both) == Score(0, "not in the answer: 'Lyon'", passed=False)
    assert (await score(Contains(), "Lyon, then Paris", answer=both)).passed
    assert (await score(Contains(match="any"), "Paris", answer=both)).passed
    assert not (await score(Contains(match="any"), "Rome", answer=both)).passed
    assert (await score(Contains(expected=("Rome",)), "Rome", answer="Paris")).passed


async def test_case_and_parts_of_words_can_be_made_to_count() -> None:
    """Each option changes one rule."""
    assert not (await score(Contains(ignore_case=False), "paris", answer="Paris")).passed
    assert (await score(Contains(whole_words=False), "I know it", answer="no")).passed


async def test_a_sample_that_expects_nothing_has_no_score() -> None:
    """It is not applicable, and no answer passes by it."""
    judge = Contains(expected_field="keywords")
    nothings: list[Any] = [None, [], " "]
    for nothing in nothings:
        given = await score(judge, "anything", keywords=nothing)
        assert given == Score(None, not_applicable="the sample names no expected text", outside=True)


async def test_a_field_that_holds_no_texts_is_an_error() -> None:
    """It is the dataset's mistake and no score."""
    with pytest.raises(JudgeError, match="the sample's 'answer' is neither a text nor a list of texts"):
        await score(Contains(), "x", answer={"a": 1})


def test_an_empty_expected_text_is_refused() -> None:
    """It would pass everything."""
    with pytest.raises(UsageError, match="expected: an empty text is in every answer"):
        Contains(expected=("",))


def test_only_the_field_that_it_reads_is_given() -> None:
    """A change of another one leaves its judgments as they are."""
    assert (Contains().sample_fields, Contains().needs_golden_answer) == (("answer",), True)
    named = Contains(expected_field="keywords")
    assert (named.sample_fields, named.needs_golden_answer) == (("keywords",), False)
    assert (Contains(expected=("a",)).sample_fields, Contains(expected=("a",)).needs_golden_answer) == ((), False)


@given(st.text(), st.text(min_size=1).filter(str.strip), st.text())
async def test_what_stands_between_spaces_is_found(before: str, expected: str, after: str) -> None:
    """Whatever the texts hold."""
    assert (await score(Contains(), f"{before} {expected} {after}", answer=expected)).passed
