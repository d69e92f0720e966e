"""Properties of the sign-flip test: exact by counting, near it by drawing, the same for all who ask."""

from __future__ import annotations

from itertools import product
from math import sqrt
from statistics import NormalDist

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from keval.stats.sign_flip import DRAWS, MOST_EXACT, counted, sign_flip

DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda sixths: sixths / 6), max_size=9)


def by_hand(differences: list[float]) -> float:
    """Return the share of all sign assignments, zeros included, whose sum is as far from 0."""
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(found >= abs(sum(differences)) - 1e-9 for found in sums) / len(sums)


def test_the_worked_example() -> None:
    """Five differences above 0 and one that is 0: 4 of 64 assignments are as extreme, and no p could be smaller."""
    found = sign_flip(counted([0.5, 0.666667, 0.166667, 0.5, 0.416667, 0]))
    assert (found.p, found.smallest, found.flipped) == (4 / 64, 4 / 64, 5)
    assert (found.draws, found.seed) == (None, None)


@given(DIFFERENCES)
@settings(max_examples=60)
def test_it_counts_all_assignments(differences: list[float]) -> None:
    """What meets in the middle is what a loop over all assignments finds; float noise makes no tie unequal."""
    assert sign_flip(counted(differences)).p == pytest.approx(by_hand(differences))


@given(st.lists(st.integers(-12, 12), max_size=10))
@settings(max_examples=60)
@example([1, 1, 3, 1, -2, 1, 5, 8])
@example([-2, 4, 1, 4, 4, 0, 5, -2, 1, 3])
def test_thirds_that_were_rounded_are_tied_all_the_same(thirds: list[int]) -> None:
    """Differences of three repetitions reach the test as rounded shares; whole numbers of thirds tell its exact p."""
    rounded = counted(round(each / 3 / 5, 11) for each in thirds)
    assert sign_flip(rounded).p == pytest.approx(by_hand([float(each) for each in thirds]))


@given(DIFFERENCES, st.sampled_from([1e-9, 1.0, 1e9]))
@settings(max_examples=40)
def test_neither_direction_nor_scale_matters(differences: list[float], scale: float) -> None:
    """Conditions in the other order, and scores on another scale, have the same p."""
    other = [-difference * scale for difference in differences]
    assert sign_flip(counted(other)).p == sign_flip(counted(differences)).p


@pytest.mark.parametrize(("better", "worse"), [(15, 5), (9, 2), (0, 7), (30, 12), (80, 55)])
def test_of_pass_and_fail_it_is_mcnemars_test(better: int, worse: int) -> None:
    """With one repetition, the exact McNemar test of the discordant samples; drawn, it comes near it."""
    found = sign_flip({1.0: better, -1.0: worse, 0.0: 40})
    exact = binomtest(min(better, worse), better + worse).pvalue
    assert found.p == pytest.approx(exact, abs=1e-12 if found.draws is None else 0.002)


def test_the_published_example_of_mcnemar() -> None:
    """15 against 5: p = 0.0413895."""
    assert sign_flip({1.0: 15, -1.0: 5}).p == pytest.approx(0.0413895, abs=1e-7)


def test_nothing_that_differs_is_a_p_of_1() -> None:
    """All ties, and no samples at all: no assignment differs from another."""
    assert sign_flip({0.0: 5}).p == sign_flip({}).p == sign_flip({}).smallest == 1.0


def test_many_differences_are_drawn_and_the_draws_are_known() -> None:
    """Beyond 20 a p is (b + 1) / (B + 1), never 0, the same each time; how it was drawn stands beside it."""
    many = {0.25: 18, 0.5: 14}
    found = sign_flip(many)
    assert found == sign_flip({-size: times for size, times in many.items()})
    assert (found.p, found.smallest, found.draws, found.seed) == (1 / (DRAWS + 1), 1 / (DRAWS + 1), DRAWS, 0)


def test_drawn_and_counted_agree() -> None:
    """Of 21 differences the drawn p is near that of the 20 largest and one too small to matter."""
    exact = {0.1 * number: 1 for number in range(1, MOST_EXACT - 5)} | {-0.15 * number: 1 for number in range(1, 7)}
    drawn = exact | {1e-6: 1}
    assert len(exact) == MOST_EXACT
    assert sign_flip(drawn).p == pytest.approx(sign_flip(exact).p, abs=0.006)


def test_many_different_sizes_are_drawn_as_few_are() -> None:
    """Of thousands of sizes the sum is normal, so p is that of z; all draws are made, and of more sizes fewer."""
    sizes = {(1 if number % 40 else -1) * (-1) ** number * (1 + number / 7000): 1 for number in range(3000)}
    z = sum(sizes) / sqrt(sum(size**2 for size in sizes))
    found = sign_flip(sizes)
    assert found.draws == DRAWS
    assert found.p == pytest.approx(2 * NormalDist().cdf(-abs(z)), abs=0.005)
    assert sign_flip({1 + number / 7: 1 for number in range(30_000)}).draws == DRAWS // 10
