from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import UsageError
from keval.judges import Case, JudgeError, Judgment, Score
from keval.judges.choice import Choice
from tests.cases import context

CITIES = ["Berlin", "London", "Paris", "Madrid"]


async def judged(text: str, answer: str = "A", choices: Any = None, judge: Choice | None = None) -> Judgment:  # noqa: ANN401 - any JSON
    """Return a judgment."""
    judge = judge or Choice()
    return await judge.judge(Case(judge.given({"answer": answer, "choices": choices}), text), context(judge))


async def found(text: str, choices: Any = CITIES, judge: Choice | None = None) -> str | None:  # noqa: ANN401 - any JSON
    """Return the letter that an answer chooses."""
    outcome = (await judged(text, "A", choices, judge)).outcome
    assert outcome is not None
    assert outcome["no_answer"] == (outcome["found"] is None)
    letter: str | None = outcome["found"]
    return letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A careful analysis shows the answer is: C", "C"),
        ("The answer is a tricky one: C", "C"),
        ("I'd rule out A and B, so C", "C"),
        ("Option B is wrong. D", "D"),
        ("The correct choice is not A but C", "C"),
        ("Vitamin D matters, so B", "B"),
        ("C is not correct; B is correct", "B"),
        ("As a doctor: C", "C"),
        ("Answer: D", "D"),
        ("(D)", "D"),
        ("d", "D"),
        ("**D**", "D"),
        ("D.", "D"),
        ("\\boxed{D}", "D"),
        ("D) Madrid", "D"),
        ("E", None),
        ("I don't know", None),
        ("", None),
        ("A or B", None),
        ("Both A and C", None),
        ("The answer is Paris", "C"),
        ("The answer is B. Wait, the answer is C.", "C"),
        ("Therefore, among A through E, the answer is (B)", "B"),
        ("The answer is B because A and C are wrong.", "B"),
        ("The answer is B, since A is too small", "B"),
        ("The answer is A", "A"),
        ("A is correct.", "A"),
        ("A", "A"),
        ("I think the answer is A because it is.", "A"),
        ("the answer is c", "C"),
        ("Let's see.\n(A) Berlin is big.\n(B) London is foggy.\n(C) Paris is right.\nThe answer is (C).", "C"),
        ("The answer is Paris, not London", "C"),
        ("A: Berlin\nB: London", None),
        ("The answer is either A or B", None),
        ("It is B, actually C", "C"),
        ("Answer: **B**", "B"),
        ("answer is option (b).", "B"),
        ("Correct: B", "B"),
        ("The answer is C", "C"),
        ("So, a careful look: I choose D", "D"),
        ("The answer is A, B", None),
        ("Neither A nor B. C", "C"),
        ("It can't be A. It must be D.", "D"),
        ("A and B are both wrong, D it is", "D"),
        ("The correct answer is:\n\nB) London", "B"),
        ("B. London is the answer", "B"),
        ("I would say London", "B"),
        ("My answer is A.", "A"),
        ("The best choice here is probably D.", "D"),
        ("a", "A"),
        ("(a) Berlin", "A"),
        ("The answer isn't A. C", "C"),
        ("**Answer: C. Paris**", "C"),
        ("C because A is wrong and B is wrong", "C"),
        ("C\n\nExplanation: Option A is about cells. Option B is about X. Option D is about Y.", "C"),
        ("B\n\nExplanation: A is a fruit.", "B"),
        ("**C**\n\nB describes mitosis.", "C"),
        ("C\nReasoning: D would violate the rule, so D is out.", "C"),
        ("D is too small, and so is A.\n\nB", "B"),
        ("B\nLet me check again.\nC", "C"),
        ("B\nThat was too quick. The answer is D.", "D"),
        ("A\nB", None),
        ("It can't be A. It can't be B. It can't be D.", None),
        ("The answer is B. That's wrong. C is right.", "C"),
        ("The answer is B. This is right.", "B"),
        ("A: false. B: false. C: true. D: false.", "C"),
        ("A: false\nB: false\nC: true\nD: false", "C"),
        ("A: false. B: false.", None),
        ("Of the two, C remains; D fails.", "C"),
        ("If it were sunny, the answer would be B. It is raining, hence D", "D"),
        ("I think the answer would be B.", "B"),
        ("C is better than D", "C"),
        ("C is worse than D", "D"),
        ("Between B and C, C is better", "C"),
        ("C (not A, B, or D)", "C"),
        ("It's not A or B. D", "D"),
        ("It is not A, B is right", "B"),
        ("C, because D would need X", "C"),
        ("The answer is C or D, but I pick D", "D"),
        ("The answer is C or D, so A is out", None),
        ("The right answer is c because it fits", "C"),
        ("The answer is a because it fits", "A"),
        ("\uff23", "C"),
        ("\uff08\uff23\uff09", "C"),
        ("答案是C。", "C"),
        ("答案：C选项", "C"),
        ("C) Paris\n\nD) Madrid is in Spain.", "C"),
        ("A) Berlin\n\nB) London", None),
        ('{"reasoning": "A is small", "answer": "B"}', "B"),
        ("<answer>B</answer> and not C", "B"),
        ("(A) is wrong, (B) is wrong, (D) is wrong", None),
        ("A. Incorrect\nB. Incorrect\nC. Correct\nD. Incorrect", "C"),
        ("(A) Wrong. (B) **Correct**: it fits. (C) Wrong.", "B"),
        ("Option c", "C"),
        ("I choose option b", "B"),
        ("I don't think the answer is B.", None),
        ("I have no doubt the answer is B.", "B"),
        ("If the question is about the UK, the answer would be B.", "B"),
        ("The answer is B. This is wrong only in fiction.", "B"),
        ("The answer is B. That is wrong.", None),
        ("ans: (c)", "C"),
        ("Vitamin C", None),
    ],
)
async def test_the_choice_that_an_answer_states_is_found(text: str, letter: str | None) -> None:
    """Articles, pronouns, and what is said to be wrong are no choices; of two, none is chosen."""
    assert await found(text) == letter


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("C", "C"),
        ("(C)", "C"),
        ("c", "C"),
        ("The answer is C", "C"),
        ("Correct: B", "B"),
        ("Paris", "C"),
        ("C) Paris", "C"),
    ],
)
async def test_the_golden_answer_may_be_written_like_an_answer(answer: str, letter: str) -> None:
    """As a letter, in a sentence, or as a choice's text."""
    judgment = await judged(letter, answer, CITIES)
    assert (judgment.scores["choice"].passed, judgment.scores["choice"].score) == (True, 1)
    assert not (await judged("D", answer, CITIES)).scores["choice"].passed


async def test_a_golden_answer_may_be_a_position() -> None:
    """Counted from 0 or 1, as datasets do; one beyond the choices names none."""
    assert (await judged("C", "2", CITIES, Choice(golden_answer="position_from_0"))).scores["choice"].passed
    assert (await judged("B", "2", CITIES, Choice(golden_answer="position_from_1"))).scores["choice"].passed
    for answer in ("4", "x", "-1"):
        score = (await judged("C", answer, CITIES, Choice(golden_answer="position_from_0"))).scores["choice"]
        assert score == Score(None, not_applicable="the golden answer names none of the choices", outside=True)


async def test_no_answer_is_told_apart_from_a_wrong_one() -> None:
    """It scores 0 either way."""
    cases = [
        ("?", "no choice found, expected A"),
        ("A or B", "names several choices, A and B, expected A"),
        ("D", "found D, expected A"),
    ]
    for text, said in cases:
        assert (await judged(text)).scores["choice"].reasoning == said
    assert (await judged("?")).outcome == {"found": None, "expected": "A", "no_answer": True}


async def test_there_may_be_other_letters() -> None:
    """As many as the sample has choices, or as the option names."""
    assert await found("The answer is E", [*CITIES, "Rome"]) == "E"
    assert await found("(K)", None, Choice(count=11)) == "K"
    assert await found("I think it is (I)", None, Choice(count=9)) == "I"
    assert await found("Yes is B", {"A": "no", "B": "yes"}) == "B"


async def test_where_the_answer_stands_is_an_option() -> None:
    """A marker of one's own, the first or the last letter."""
    text = "B at first. Final: C or D"
    assert await found(text, None, Choice(after=("final:",), take="first")) == "C"
    assert await found(text, None, Choice(after=("final:",), take="last")) == "D"
    assert await found(text, None, Choice(after=(), take="first")) == "B"
    assert await found("The answer is B. C.", None, Choice(after=())) == "C"


@pytest.mark.parametrize("after", [None, ("the answer (Yes or No) is",)])
@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Therefore, the answer (Yes or No) is Unknown.", None),
        ("There is no proof. Therefore, the answer (Yes or No) is moot.", None),
        ("Therefore, the answer (Yes or No) is no.", "B"),
    ],
)
async def test_words_that_announce_an_answer_are_no_choice(
    text: str, letter: str | None, after: tuple[str, ...] | None
) -> None:
    """Nor is a word like `no` one that stands before them, where what they announce is none."""
    assert await found(text, ["yes", "no"], Choice(after=after)) == letter


@pytest.mark.parametrize("text", ["the answer is unclear", "the answer is 42", "my pick is open"])
async def test_all_choices_named_at_once_are_none_of_them(text: str) -> None:
    """`among A through E` and `from A to E` are said of the question."""
    assert await found(f"Therefore, among A through E, {text}", None, Choice(count=5)) is None
    assert await found(f"To choose from A to E: {text}", None, Choice(count=5)) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is Paris or London.", None),
        ("Therefore, Paris and London", None),
        ("The answer is London, and Paris is wrong.", "B"),
        ("The answer is Paris. London and Madrid are far.", "C"),
    ],
)
async def test_of_two_choices_named_in_words_none_is_chosen(text: str, letter: str | None) -> None:
    """As of `A or B`; what is said of others is no answer."""
    assert await found(text) == letter


async def test_only_what_is_announced_may_count() -> None:
    """Without the words that announce an answer there is none; a golden answer needs no such words."""
    assert await found("I would say C.", None, Choice(marker_required=True)) is None
    assert await found("I would say C.", None, Choice(marker_required=True, take="last")) is None
    assert await found("The answer is C.", None, Choice(marker_required=True)) == "C"
    assert (await judged("The answer is C.", "C", None, Choice(marker_required=True))).scores["choice"].passed


async def test_the_first_or_last_choice_may_be_named_in_words() -> None:
    """Where no letter names one."""
    assert await found("I would say Paris, then London", judge=Choice(take="first")) == "C"
    assert await found("I would say Paris, then London", judge=Choice(take="last")) == "B"


@pytest.mark.parametrize("text", ["Yes, there is no limit.", "**Yes**, it can; there is no reason to doubt it.", "Yes"])
async def test_a_choice_that_opens_a_text_is_its_answer(text: str) -> None:
    """Whatever other choice is a word of what follows."""
    assert await found(text, ["yes", "no"]) == "A"


async def test_words_that_two_choices_share_name_neither() -> None:
    """A letter still does."""
    same = ["same", "same", "other"]
    assert await found("It is the same", same) is None
    assert await found("B", same) == "B"


async def test_of_choices_that_contain_each_other_the_longer_one_counts() -> None:
    """`Paris, Texas` is not Paris."""
    assert await found("The answer is Paris, Texas", ["Paris", "Paris, Texas"]) == "B"
    assert await found("I would say paris", ["Paris", "Paris, Texas"]) == "A"


@pytest.mark.parametrize(("text", "letter"), [("-1", None), ("1", "A"), ("1.", "A"), ("1.5", None), ("12", None)])
async def test_a_number_is_no_part_of_another(text: str, letter: str | None) -> None:
    """With its sign and its decimals it is another choice."""
    assert await found(f"The answer is {text}", ["1", "2", "3", "4"]) == letter


async def test_choices_that_are_none_are_an_error() -> None:
    """It is the dataset's mistake and no score."""
    with pytest.raises(JudgeError, match="the sample's choices are neither a list"):
        await judged("A", "A", "Paris")


def test_options_that_make_no_sense_are_refused() -> None:
    """All problems at once."""
    with pytest.raises(UsageError) as caught:
        Choice(count=1, after=("",))
    assert len(caught.value.problems) == 2
    with pytest.raises(UsageError, match="marker_required"):
        Choice(after=(), marker_required=True)


@given(
    st.sampled_from("ABCD"),
    st.sampled_from(["{}", "({})", "{}.", "**{}**", "Answer: {}", "The answer is ({}).", "So {}"]),
)
async def test_a_letter_is_found_in_any_form(letter: str, written: str) -> None:
    """Each letter like the others."""
    assert await found(written.format(letter), None) == letter


@given(st.text())
async def test_any_text_names_a_choice_or_none(text: str) -> None:
    """And nothing is raised."""
    assert await found(text) in {"A", "B", "C", "D", None}


@pytest.mark.parametrize("part", ["(", "[(", "A, ", "not A or B ", "so A or ", "A: false. ", "the answer is A or B "])
async def test_a_long_text_is_read_in_a_time_that_grows_with_its_length(part: str) -> None:
    """Some 30,000 characters; were each start of a pattern tried up to the end, this would take minutes."""
    assert await found((part * 30_000)[:30_000]) in {"A", "B", None}
