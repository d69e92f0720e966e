import pytest

from keval.errors import UsageError
from keval.judges import Judgment, Score
from keval.judges.number import NumberJudge
from tests.cases import case, context


async def judged(text: str, golden_answer: str, judge: NumberJudge | None = None) -> Judgment:
    """Return a judgment."""
    judge = judge or NumberJudge()
    return await judge.judge(case(text, golden_answer), context(judge))


async def found(text: str, judge: NumberJudge | None = None) -> str | None:
    """Return the number that is found in an answer."""
    outcome = (await judged(text, "0", judge)).outcome
    assert outcome is not None
    assert outcome["no_answer"] == (outcome["found"] is None)
    number: str | None = outcome["found"]
    return number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("#### 72", "72"),
        ("#### 1,234", "1234"),
        ("#### -42", "-42"),
        ("The answer is 42.", "42"),
        ("72", "72"),
        ("The answer is 72 clips", "72"),
        ("72 clips.", "72"),
        ("**72**", "72"),
        ("#### **72**", "72"),
        ("\\boxed{72}", "72"),
        ("72%", "72"),
        ("$72", "72"),
        ("72.0", "72"),
        ("72.00", "72"),
        ("1e3", "1000"),
        ("1/2", "0.5"),
        (".5", "0.5"),
        ("\u22125", "-5"),
        ("#### 10 … no, #### 12", "12"),
        ("The answer is 72. Let me know if you need 3 more", "72"),
        ("The answer is 72. Call me at 5", "72"),
        ("The answer is . \n\nFor 3 boxes, each pen costs $0.80.", "0.8"),
        ("3-5", None),
        ("3\u20135", None),
        ("seventy-two", None),
        ("I'll guess #### 72", "72"),
        ("48 ÷ 2 = 20 … #### 68", "68"),
        ("", None),
        ("I don't know", None),
        ("The answer is 10. Wait, it is 12.", "12"),
        ("The answer is 3 + 4 = 7.", "7"),
        ("The answer is not 5 but 7", "7"),
        ("The answer (arabic numerals) is 8.", "8"),
        ("The answer is:\n\n72", "72"),
        ("The answer is 224 + 28 \n= 252", "252"),
        ("The answer is 7500 + 3500 = \n\n$11,000", "11000"),
        ("**Answer:** 72", "72"),
        ("The final answer is $\\boxed{18}$. I used 3 steps.", "18"),
        ("$1{,}234$", "1234"),
        ("\\frac{1}{2}", "0.5"),
        ("½", "0.5"),
        ("1½", "1.5"),
        ("1 1/2", "1.5"),
        ("-1 1/2", "-1.5"),
        ("1/3", "1/3"),
        ("-$1,234.50", "-1234.5"),
        ("US$5", "5"),
        ("2.5 million", "2500000"),
        ("1.5 × 10^3", "1500"),
        ("5 x 100 = 500", "500"),
        ("1\u202f234", "1234"),
        ("१२", "12"),
        ("It leaves at 10:30", None),
        ("2024-05-01", None),
        ("version 1.2.3", None),
        ("1,2,3", None),
        ("H2O", None),
        ("x²", None),
        ("1/0", None),
        ("1e9999", None),
        ("9" * 500, None),
        ("12 cm^2", "12"),
        ("42 m^{2}", "42"),
        ("5 s^{-1}", "5"),
        ("x_1 = 7", "7"),
        ("\\boxed{2\\frac{1}{2}}", "2.5"),
        ("\\boxed{\\frac12}", "0.5"),
        ("\\boxed{-\\frac{3}{4}}", "-0.75"),
        ("\\boxed{10^6}", "1000000"),
        ("\\boxed{2^{10}}", "1024"),
        ("2**3", "8"),
        ("10^{-2}", "0.01"),
        ("2^n", None),
        ("\\boxed{90^\\circ}", "90"),
        ("\\boxed{\\sqrt{16}}", None),
        ("\\boxed{4\\sqrt{2}}", None),
        ("The answer is √16 = 4", "4"),
        ("\\boxed{5!}", None),
        ("The answer is 5!", "5"),
        ("\\boxed{3\\pi}", None),
        ("2π", None),
        ("minus 5", "-5"),
        ("It is minus 5 degrees", "-5"),
        ("The answer is negative 5", "-5"),
        ("The answer is - 5", "-5"),
        ("\\boxed{- 5}", "-5"),
        ("- 5 apples", "5"),
        ("10 - 5 = 5", "5"),
        ("10 minus 5 is 5", "5"),
        ("$5M", "5000000"),
        ("5k", "5000"),
        ("$1.5bn", "1500000000"),
        ("5 kg", "5"),
        ("300K", "300"),
        ("#### 1 234", "1234"),
        ("#### 1 234 567.", "1234567"),
        ("12 34", "34"),
        ("The answer is less than 5", None),
        ("The answer is 8, which is less than 10.", "8"),
        ("The answer is 4 or 5", None),
        ("4 or 5", None),
        ("between 4 and 5", None),
        ("The answer is 1/2 or 0.5", "0.5"),
        ("The answer is 3.14 to 2 decimal places", "3.14"),
        ("<b>5</b>", "5"),
        ("> 42", "42"),
        ('{"answer": 42, "steps": 3}', "42"),
        ('{"steps": 3, "answer": "42"}', "42"),
        ("<answer>42</answer> in 3 steps", "42"),
        ("42 (see step 3)", "42"),
        ("42, see step 3", "42"),
        ("(42)", "42"),
        ("\\(42\\)", "42"),
        ("1. 42 apples\n2. Done", "42"),
        ("Step 1: 6 * 7 = 42\nStep 2: done", "42"),
        ("72. That is all.", "72"),
        ("The answer is 42 since 50 - 8 = 42 and 42/2 = 21", "42"),
        ("The answer is 7. That is wrong. It should be 8.", "8"),
        ("The answer is 42. That is wrong.", None),
        ("The answer is 42. No, this is wrong.", None),
        ("I don't think the answer is 42.", None),
        ("It is false that the answer is 42.", None),
        ("I doubt that the correct answer is 42. It is 7.", "7"),
        ("The answer is anything but 42.", None),
        ("42 is wrong; I do not know", None),
        ("I was not sure. The answer is 42.", "42"),
        ("Initially I had 3. There is no doubt that the answer is 42. We used 4 steps.", "42"),
        ("It is not wrong to say that the answer is 42.", "42"),
        ("If each bag holds 5, the answer would be 42.", "42"),
        ("The answer is 42.\nThis is incorrect if you count weekends.", "42"),
        ("at least 42", None),
        ("42+", None),
        ("42+ 1 = 43", "43"),
        ("The answer is 40 + 2 = 42 (step 7)", "42"),
        ("The answer is 7.5. No, that's incorrect: 8.5", "8.5"),
        ("If I had 9, it would be 3. The answer is 7.", "7"),
        ("答案是42，共3步", "42"),
        ("答案：１２", "12"),
        ("共42步", "42"),
        ("5 to 10", None),
        ("The answer is 5 - 10 days", None),
        ("5~10", None),
        ("3 : 4", None),
        ("1: 42", "42"),
        ("The answer is 20 - 5 = 15", "15"),
        ("The price rose from 5 to 10", "10"),
        ("3.14 to 2 decimal places", "3.14"),
        ("It costs $5-$10", None),
        ("It fell by 5%-10%", None),
        ("5 ± 1", "5"),
        ("\\(5 \\pm 0.1\\)", "5"),
        ("x = ±5", None),
        (">= 5", None),
        ("x<5", None),
        ("5×10³", "5000"),
        ("10⁻²", "0.01"),
        ("12 cm²", "12"),
        ("3 hundred", "300"),
        ("\\frac{3}{-4}", "-0.75"),
        ("\\cfrac{-3}{-4}", "0.75"),
        ("\\boxed{\\frac{1+2}{3}}", None),
        ("\\frac{1+2}{3} = 1", "1"),
        ("0.\\overline{3}", None),
    ],
)
async def test_the_number_that_an_answer_states_is_found(text: str, number: str | None) -> None:
    """However it is written, wherever it is announced; what is not one number is none."""
    assert await found(text) == number


@pytest.mark.parametrize(
    ("text", "golden_answer", "passed"),
    [
        ("72.0", "72", True),
        ("$72", "72", True),
        ("72", "$72", True),
        ("1/2", ".5", True),
        ("1e3", "1,000", True),
        ("0.1", "1/10", True),
        ("0.3333", "1/3", False),
        ("#### 18", "She has 16 - 3 = 13 eggs.\n#### 18", True),
        ("9007199254740993", "9007199254740992", False),
        ("", "72", False),
    ],
)
async def test_numbers_are_compared_exactly(text: str, golden_answer: str, *, passed: bool) -> None:
    """As fractions: no digit gets lost, and the golden answer may be a whole solution."""
    score = (await judged(text, golden_answer)).scores["number"]
    assert (score.score, score.passed) == (int(passed), passed)


async def test_an_answer_without_a_number_says_so() -> None:
    """It is wrong, and told apart from a wrong number."""
    for text, said in [("none", "no number found; expected 5"), ("3-5", "'3-5' is not one number; expected 5")]:
        judgment = await judged(text, "5")
        assert (judgment.scores["number"].score, judgment.scores["number"].reasoning) == (0, said)
        assert judgment.outcome == {"found": None, "expected": "5", "no_answer": True}
    assert (await judged("4", "5")).scores["number"].reasoning == "found 4, expected 5"


async def test_without_a_number_in_the_golden_answer_nothing_can_be_compared() -> None:
    """The metric is not applicable then, whatever is answered."""
    given = (await judged("5", "five")).scores["number"]
    assert given == Score(None, not_applicable="the golden answer has no number", outside=True)


@pytest.mark.parametrize("text", ["999999999^999", "999999999^-999", "0.000000001^999"])
async def test_a_power_that_nobody_writes_out_is_not_one_number(text: str) -> None:
    """Python refuses to write so many digits; the answer is scored all the same."""
    judgment = await judged(f"The answer is {text}", "5")
    assert judgment.scores["number"].score == 0
    assert await found(f"The answer is {text}") is None
    assert (await judged("5", text)).scores["number"].not_applicable == "the golden answer has no number"


async def test_where_the_answer_stands_is_an_option() -> None:
    """A marker of one's own, the first or the last number, and no number without a marker."""
    text = "The answer is 1. Final: 2; 3. Then 4"
    assert await found(text) == "1"
    assert await found(text, NumberJudge(after=("final:",))) == "2"
    assert await found(text, NumberJudge(after=("final:",), take="last")) == "4"
    assert await found(text, NumberJudge(after=(), take="first")) == "1"
    assert await found(text, NumberJudge(after=())) == "4"
    assert await found("5", NumberJudge(marker_required=True)) is None
    assert await found("The answer is 3 + 4 = 7", NumberJudge(take="first")) == "3"
    assert await found("The answer is 5 to 10", NumberJudge(take="first")) == "5"


async def test_a_difference_may_be_tolerated() -> None:
    """Up to and with the tolerance, exactly."""
    assert (await judged("0.3", "0.2", NumberJudge(tolerance=0.1))).scores["number"].passed
    assert not (await judged("0.30001", "0.2", NumberJudge(tolerance=0.1))).scores["number"].passed


async def test_a_percentage_may_be_hundredths() -> None:
    """On either side."""
    assert (await judged("72%", "0.72", NumberJudge(percent_is_hundredths=True))).scores["number"].passed
    assert (await judged("0.72", "72 %", NumberJudge(percent_is_hundredths=True))).scores["number"].passed
    assert not (await judged("72%", "0.72")).scores["number"].passed


def test_options_that_make_no_sense_are_refused() -> None:
    """All at once."""
    with pytest.raises(UsageError) as caught:
        NumberJudge(tolerance=float("nan"), after=("",))
    assert caught.value.problems == (
        "tolerance: nan is not a number from 0 up",
        "after: an empty text is everywhere",
    )


@pytest.mark.parametrize("part", ["-", "1 ", "4 or 5 ", "1. 2\n", "\\frac{", "(", "no -"])
@pytest.mark.slow
async def test_a_long_text_is_read_in_a_time_that_grows_with_its_length(part: str) -> None:
    """Some 30,000 characters; were each start of a pattern tried up to the end, this would take minutes."""
    assert (await judged("no " + (part * 30_000)[:30_000], "7")).scores["number"].score == 0


@pytest.mark.parametrize("spaces", ["\n", " \n"])
async def test_an_answer_that_ends_in_empty_lines_is_read_at_once(spaces: str) -> None:
    """So many empty lines after an answer are read once; with the cube of their number this would not end."""
    assert await found(f"#### 5{spaces * 50_000}.") == "5"
