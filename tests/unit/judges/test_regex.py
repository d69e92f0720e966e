from typing import Any

import pytest

from keval.errors import UsageError
from keval.judges import Case, JudgeError, Score
from keval.judges.regex import Regex
from tests.cases import context


async def score(judge: Regex, text: str, **sample: Any) -> Score:  # noqa: ANN401 - any field of a sample
    """Return the one score of a judgment."""
    return (await judge.judge(Case(judge.given(sample), text), context(judge))).scores["regex"]


async def test_an_answer_passes_in_which_the_pattern_is_found() -> None:
    """Anywhere, unless the pattern says where."""
    assert await score(Regex(pattern=r"(?i)par[ií]s"), "It is PARIS.") == Score(1, passed=True)
    assert await score(Regex(pattern=r"\Aparis\Z"), "in paris") == Score(0, "the pattern is not found", passed=False)


@pytest.mark.parametrize(
    ("pattern", "take", "text", "passed"),
    [
        (r"Answer: (\w+)", "last", "Answer: London. Answer: PARIS", True),
        (r"Answer: (\w+)", "first", "Answer: London. Answer: Paris", False),
        (r"(Answer): (?P<answer>\w+)", "last", "Answer: Paris", True),
        (r"Answer: (\w+)", "last", "Paris", False),
        (r"x|(y)", "last", "x", False),
    ],
)
async def test_what_is_captured_may_have_to_be_the_golden_answer(
    pattern: str,
    take: Any,  # noqa: ANN401 - a literal
    text: str,
    *,
    passed: bool,
) -> None:
    """The group `answer`, or else the first one, up to case and spaces."""
    judge = Regex(pattern=pattern, compare=True, take=take)
    assert (await score(judge, text, answer="paris")).passed is passed


async def test_the_pattern_may_come_from_the_sample() -> None:
    """Then that field is what the judge is given; without it nothing applies, and a broken one is an error."""
    judge = Regex(pattern_field="wanted")
    assert (judge.sample_fields, judge.needs_golden_answer) == (("wanted",), False)
    assert (await score(judge, "Paris", wanted="P.*s")).passed
    none = Score(None, not_applicable="the sample has no 'wanted'", outside=True)
    assert await score(judge, "Paris", answer="Paris") == none
    with pytest.raises(JudgeError, match=r"the sample's 'wanted': '\(' is not a regular expression"):
        await score(judge, "Paris", wanted="(")


@pytest.mark.parametrize(
    "options", [{"pattern": "("}, {"pattern": "x", "compare": True}, {}, {"pattern": "x", "pattern_field": "y"}]
)
def test_a_pattern_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    """Before anything is judged."""
    with pytest.raises(UsageError, match="pattern: "):
        Regex(**options)


def test_the_golden_answer_is_given_only_where_it_is_compared() -> None:
    """A corrected one changes nothing else."""
    assert (Regex(pattern="x").sample_fields, Regex(pattern="x").needs_golden_answer) == ((), False)
    comparing = Regex(pattern="(x)", compare=True)
    assert (comparing.sample_fields, comparing.needs_golden_answer) == (("answer",), True)


@pytest.mark.slow
async def test_a_search_without_an_end_is_an_error_of_the_judge() -> None:
    """And no wrong answer."""
    with pytest.raises(JudgeError, match="a regular expression took longer than 2 s"):
        await score(Regex(pattern=r"^(?:a|a)*$"), "a" * 50 + "!")
