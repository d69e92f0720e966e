import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import UsageError
from keval.judges import Metric, Score
from keval.judges.exact_match import ExactMatch
from tests.cases import case, context


async def score(text: str, golden_answer: str, judge: ExactMatch | None = None) -> Score:
    """Return the one score of a judgment, which is free of charge."""
    judgment = await (judge or ExactMatch()).judge(case(text, golden_answer), context(ExactMatch()))
    assert judgment.cost_usd == 0.0
    assert judgment.usage is None
    return judgment.scores["exact_match"]


@pytest.mark.parametrize(
    ("text", "golden_answer"),
    [
        ("Paris", "Paris"),
        ("  paris\n", "Paris"),
        ("New\r\n York", "new york"),
        ("STRASSE", "straße"),
        ("caf\u00e9", "cafe\u0301"),
        ("\u0390", "\u03b9\u0308\u0301"),
        ("", ""),
        (" \t", ""),
    ],
)
async def test_texts_that_differ_in_case_white_space_or_normal_form_match(text: str, golden_answer: str) -> None:
    """The defaults compare what a reader would call the same text."""
    assert await score(text, golden_answer) == Score(1, passed=True)


@pytest.mark.parametrize(
    ("text", "golden_answer"), [("Paris.", "Paris"), ("Par is", "Paris"), ("", "Paris"), ("Paris", ""), ("²", "2")]
)
async def test_other_texts_do_not_match(text: str, golden_answer: str) -> None:
    """A near miss is a miss: score 0, not passed, and no reasons."""
    assert await score(text, golden_answer) == Score(0, reasoning=None, passed=False)


async def test_case_and_white_space_can_be_made_to_count() -> None:
    """Each option takes back its own leniency only."""
    assert not (await score("paris", "Paris", ExactMatch(ignore_case=False))).passed
    assert (await score(" Paris", "Paris", ExactMatch(ignore_case=False))).passed
    assert not (await score(" paris", "Paris", ExactMatch(strip=False))).passed
    assert (await score("paris", "Paris", ExactMatch(strip=False))).passed


async def test_the_sign_of_a_number_is_no_punctuation() -> None:
    """−5 is not 5; a hyphen between words or numbers is punctuation."""
    judge = ExactMatch(ignore_punctuation=True)
    assert not (await score("-5", "5", judge)).passed
    assert (await score("\u22125.", "-5", judge)).passed
    assert (await score("well-known: 3-4", "well known 3 4", judge)).passed


async def test_what_is_compared_may_be_announced() -> None:
    """It is the text after the last of the words; an answer without them is compared whole."""
    judge = ExactMatch(after=("So the answer is",), ignore_punctuation=True)
    assert (await score("So the answer is (A). No. so the answer is (B).", "(B)", judge)).passed
    assert (await score("(B)", "(B)", judge)).passed
    assert not (await score("It is (B)", "(B)", judge)).passed
    with pytest.raises(UsageError, match="after: an empty text"):
        ExactMatch(after=("",))


def test_its_one_metric_goes_from_0_to_1() -> None:
    """The scale is part of every judgment."""
    assert ExactMatch().metrics == (Metric("exact_match", 0, 1, type="binary"),)


@given(st.text(), st.sampled_from(["NFC", "NFD"]))
async def test_every_text_matches_itself_however_it_is_spaced_and_normalised(text: str, form: str) -> None:
    """The comparison is reflexive, whatever the text holds."""
    changed = unicodedata.normalize(form, f"\n {text}\t")  # type: ignore[arg-type] # hypothesis widens the literal
    assert (await score(changed, text)).passed


@given(st.text(), st.text())
async def test_answer_and_golden_answer_can_change_places(one: str, other: str) -> None:
    """The comparison is symmetric."""
    assert await score(one, other) == await score(other, one)


async def test_punctuation_and_articles_count_unless_they_are_ignored() -> None:
    """What a benchmark calls the same answer is an option."""
    assert not (await score("The Paris.", "paris")).passed
    assert (await score("The Paris.", "paris", ExactMatch(ignore_punctuation=True, ignore_articles=True))).passed
    assert not (await score("> ) }", "> ) ]", ExactMatch())).passed
