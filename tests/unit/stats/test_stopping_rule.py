"""Properties of the stopping rule: the worked examples, and one interval from which every conclusion is read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.stats.stopping_rule import (
    CONTRADICTION,
    TOO_FEW,
    UNDECIDED,
    Compared,
    Difference,
    Look,
    StoppingRule,
    Watch,
    look,
)

SERIES = (1.0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1)
FEW = (0.5, 0.666667, 0.166667, 0.5, 0.416667, 0.0)
"""Example T of the statistics specification."""
RULE, DATASET = StoppingRule(1), StoppingRule(1, target="dataset")
NOT_MEASURED = Difference(None, -1, 1)


def interval(found: Look) -> list[float]:
    """Return the ends of an interval that there is, rounded as the examples are."""
    assert found.lower is not None
    assert found.upper is not None
    return [round(found.lower, 6), round(found.upper, 6)]


def seen(found: tuple[float, ...], compared: Compared, rule: StoppingRule = RULE) -> Look:
    """Return what a rule says of differences of which all were measured."""
    return look(rule, compared, [Difference.of(each) for each in found])


@pytest.mark.parametrize(
    ("n", "p", "outcome"), [(10, 0.125671, "cannot tell"), (12, 0.070582, "cannot tell"), (13, 0.039192, "higher")]
)
def test_the_worked_example(n: int, p: float, outcome: str) -> None:
    """The thirteenth sample decides; the look before it does not."""
    found = seen(SERIES[:n], Compared(1, 100))
    assert found.outcome == outcome
    assert (round(found.p, 6), found.is_decided) == (p, outcome == "higher")


def test_the_complete_dataset_is_also_tested_in_the_ordinary_way() -> None:
    """Of six samples the interval is Student's at half of alpha, and the sign-flip test has the last word."""
    found = seen(FEW, Compared(4, 6))
    assert interval(found) == [0.057565, 0.692435]
    assert round(found.p, 6) == 0.125
    assert found.outcome == "borderline"


def test_before_the_end_there_is_no_ordinary_test() -> None:
    """The same six of forty samples are too few, and their interval is that of the bets."""
    found = seen(FEW, Compared(4, 40))
    assert (found.outcome, found.reason) == ("cannot tell", TOO_FEW)
    assert interval(found) == [-2.353995, 2.636850]


def test_all_of_alpha_for_early_stopping_leaves_no_ordinary_test() -> None:
    """With an early share of 1 the complete dataset has the exact interval only."""
    found = seen(FEW, Compared(4, 6), StoppingRule(1, early_share=1))
    assert found.lower is not None
    assert found.lower < -1
    assert found.p == 1


@pytest.mark.parametrize(
    ("total", "lower", "upper"), [(20, 0.361347, 0.8), (100, 0.172802, 0.936659), (14, 0.714286, 0.714286)]
)
def test_of_a_dataset_all_is_known_at_its_end(total: int, lower: float, upper: float) -> None:
    """What the complete run would show lies in an interval that ends as a point."""
    found = seen(SERIES, Compared(1, total), DATASET)
    assert interval(found) == [lower, upper]
    assert found.outcome == "higher"


def test_of_a_dataset_what_is_not_measured_is_the_worst() -> None:
    """A sample that was not measured is one of those that are asked about: it may have been anything."""
    known = [Difference.of(each) for each in SERIES]
    found = look(DATASET, Compared(1, 15), [*known, NOT_MEASURED])
    assert interval(found) == [0.6, round(11 / 15, 6)]


def test_what_is_missing_and_could_turn_the_result_leaves_no_p() -> None:
    """Where the worst and the best case point in opposite directions, nothing is known of the direction."""
    known = [Difference.of(0.0) for _ in range(19)]
    found = look(DATASET, Compared(1, 20), [*known, NOT_MEASURED])
    assert (found.outcome, found.p) == ("cannot tell", 1)


@given(st.lists(st.sampled_from([-4.0, -1, 0, 0.5, 1, 4]), min_size=12, max_size=40), st.sampled_from([None, 0.5, 2]))
@settings(max_examples=30)
def test_every_conclusion_is_read_off_the_interval(found: list[float], margin: float | None) -> None:
    """Higher, lower and within the margin say of the interval just what they seem to; else 0 is within it."""
    seen_ = look(RULE, Compared(4, 100, margin), [Difference.of(each) for each in found])
    lower, upper = interval(seen_)
    is_within = margin is not None and -margin < lower and upper < margin
    assert (seen_.outcome == "higher") == (lower > 0)
    assert (seen_.outcome == "lower") == (upper < 0)
    assert is_within == (seen_.is_small or seen_.outcome == "no difference within margin")
    assert (seen_.p <= 0.05) == (seen_.outcome in {"higher", "lower"})


DIFFERENCES = st.sampled_from([-4.0, -1, 0, 0.5, 1, 4]).map(Difference.of) | st.just(Difference(None, -4, 4))


@given(
    st.lists(DIFFERENCES, min_size=1, max_size=40), st.sampled_from([10, 40, 60]),
    st.sampled_from([None, 0.5, 2.0, 5.0]), st.sampled_from([RULE, DATASET]), st.booleans(),
)  # fmt: skip
@settings(max_examples=30)
def test_what_is_watched_says_when_to_look(
    found: list[Difference], planned: int, margin: float | None, rule: StoppingRule, is_doubtful: bool
) -> None:
    """Every look that decides is worth it; where all is measured, and the dataset goes on, no other look is."""
    compared = Compared(4, max(planned, len(found)), margin)
    watch = Watch(rule, compared)
    for n, difference in enumerate(found, start=1):
        watch.add(difference)
        is_decided = look(rule, compared, found[:n], is_doubtful=is_doubtful).is_decided
        is_worth = watch.is_worth_a_look(is_doubtful=is_doubtful)
        assert is_worth or not is_decided
        if rule is RULE and not is_doubtful and rule.min_samples <= n < compared.planned:
            assert is_worth == is_decided


@given(st.lists(st.sampled_from([-1.0, 0, 1]), min_size=10, max_size=40), st.sampled_from([6, 20]))
@settings(max_examples=20)
def test_the_other_way_round_it_says_the_opposite(found: list[float], planned: int) -> None:
    """Baseline and condition are alike to the rule."""
    compared = Compared(1, max(planned, len(found)))
    one, other = seen(tuple(found), compared), seen(tuple(-each for each in found), compared)
    opposite = {"higher": "lower", "lower": "higher"}
    assert other.outcome == opposite.get(one.outcome, one.outcome)
    assert one.p == pytest.approx(other.p)


def test_a_family_shares_alpha() -> None:
    """Of six comparisons each has a sixth: what decides alone does not decide then, and p says so."""
    alone, shared = (seen(SERIES[:13], Compared(1, 100), StoppingRule(size)) for size in (1, 6))
    assert shared.outcome == "cannot tell"
    assert shared.p == pytest.approx(6 * alone.p)


def test_much_that_is_not_measured_suspends_a_decision() -> None:
    """Where more is missing than may be, a conclusion has to hold whatever that would have been."""
    known = [Difference.of(1.0)] * 14
    found = [*[NOT_MEASURED] * 8, *known]
    compared = Compared(1, 100)
    assert look(RULE, compared, found).outcome == "higher"
    assert look(RULE, compared, found, is_doubtful=True).outcome == "cannot tell"
    assert look(RULE, compared, [*[NOT_MEASURED] * 8, *known * 4], is_doubtful=True).outcome == "higher"


def test_what_is_not_measured_is_counted_and_left_out() -> None:
    """A sample without a number is finished, and in no mean."""
    found = look(RULE, Compared(1, 100), [Difference.of(1.0), NOT_MEASURED])
    assert (found.n, found.measured, found.mean) == (2, 1, 1.0)


def test_equal_differences_are_left_to_the_bets() -> None:
    """Where nothing varies, Student's interval would be a point: six equal samples do not decide."""
    found = seen((1.0,) * 6, Compared(4, 6))
    assert (found.outcome, found.reason) == ("cannot tell", UNDECIDED)


def test_halves_that_contradict_each_other_give_no_interval() -> None:
    """Where the bets excluded what the ordinary interval says, nobody can tell."""
    values = (1.0,) * 14 + (-1.0, -0.999) * 60
    found = seen(values, Compared(1, len(values)))
    assert (found.outcome, found.reason) == ("cannot tell", CONTRADICTION)
    assert found.lower is None
    assert found.upper is None
