"""Properties of bounds by betting: fair bets win nothing, and the worked examples come out."""

from __future__ import annotations

from itertools import permutations, product
from math import log
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.stats.betting import Bets

TAIL = 0.05 / 2 / 2
"""Of one comparison: half of alpha pays for stopping early, and half of that for each side."""
SERIES = [1.0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1]
DIFFERENCES = st.lists(st.integers(-4, 4).map(lambda quarters: quarters / 4), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("n", "capital", "lower", "upper"),
    [
        (10, 3.460381, -0.102219, 0.968938),
        (12, 4.037281, -0.032957, 0.958978),
        (13, 4.625572, 0.021922, 0.958978),
    ],
)
def test_the_worked_example(n: int, capital: float, lower: float, upper: float) -> None:
    """Thirteen samples of pass and fail exclude 0, twelve do not."""
    bets, found = Bets(1), SERIES[:n]
    assert bets.log_capital(found, 0)[-1] == pytest.approx(capital, abs=1e-6)
    assert bets.lower(found, TAIL) == pytest.approx(lower, abs=1e-6)
    assert -bets.lower([-each for each in found], TAIL) == pytest.approx(upper, abs=1e-6)


@pytest.mark.parametrize(("total", "lower", "upper"), [(20, 0.361347, 0.8), (100, 0.172802, 0.936659)])
def test_the_worked_example_of_a_dataset(total: int, lower: float, upper: float) -> None:
    """Of the mean of one dataset the samples that are missing can change only so much."""
    bets = Bets(1, total)
    assert bets.lower(SERIES, 0.025) == pytest.approx(lower, abs=1e-6)
    assert -bets.lower([-each for each in SERIES], 0.025) == pytest.approx(upper, abs=1e-6)


@pytest.mark.parametrize("candidate", [0.0, -0.5, 1 / 3])
def test_bets_on_the_true_mean_are_fair(candidate: float) -> None:
    """Over all outcomes of six samples whose mean is the candidate, the players' money stays their stake."""
    likely = {-1: (1 - candidate) / 2 - 0.1, 0: 0.2, 1: (1 + candidate) / 2 - 0.1}
    expected = sum(
        float(np.prod([likely[each] for each in found])) * np.exp(Bets(1).log_capital(found, candidate)[-1])
        for found in product(likely, repeat=6)
    )
    assert expected == pytest.approx(1, abs=1e-12)


def test_bets_without_replacement_are_fair() -> None:
    """Over all orders of a dataset, bets on its own mean win nothing; bets for a population win less than nothing."""
    dataset = [1.0, 1, 0, 0, -1, 0.5]
    mean, orders = fmean(dataset), list(permutations(dataset))
    for n in range(1, 5):
        found = np.array([order[:n] for order in orders])
        assert np.exp(Bets(1, 6).log_capital(found, mean)[:, -1]).mean() == pytest.approx(1, abs=1e-12)
        assert np.exp(Bets(1).log_capital(found, mean)[:, -1]).mean() <= 1 + 1e-12


def test_a_true_mean_is_rarely_excluded_at_any_time() -> None:
    """Of all runs of ten fair coins, no more than `tail` ever exclude 0: counted, not drawn."""
    runs = np.array(list(product((-1.0, 1.0), repeat=10)))
    for tail in (0.5, 0.1, TAIL):
        paths = Bets(1).log_capital(runs, 0)
        assert (paths.max(-1) >= -log(tail)).mean() <= tail


@given(DIFFERENCES, st.floats(-0.99, 0.99))
@settings(max_examples=30)
def test_the_bound_is_where_exclusion_ends(found: list[float], candidate: float) -> None:
    """What lies below the bound is excluded, what lies above it is not."""
    bets = Bets(1)
    bound = bets.lower(found, 0.1)
    if abs(candidate - bound) > 1e-6:
        assert bets.excludes(found, candidate, 0.1) == (candidate < bound)


@given(DIFFERENCES, DIFFERENCES, st.sampled_from([1e-6, 1.0, 1e9]))
@settings(max_examples=30)
def test_a_later_look_takes_nothing_back(found: list[float], more: list[float], scale: float) -> None:
    """With more samples an interval only gets narrower, on any scale."""
    bets = Bets(scale)
    first, then = ([each * scale for each in values] for values in (found, found + more))
    assert bets.lower(then, TAIL) >= bets.lower(first, TAIL) - 1e-9 * scale


@given(DIFFERENCES)
@settings(max_examples=20)
def test_the_order_within_the_samples_changes_no_money(found: list[float]) -> None:
    """What the players have in the end is the same in any order."""
    shuffled = sorted(found)
    ends = (Bets(1).log_capital(each, 0.25)[-1] for each in (found, shuffled))
    assert next(ends) == pytest.approx(next(ends), abs=1e-9)


def test_nothing_is_known_of_no_samples() -> None:
    """Without samples the bound is the end of what is possible."""
    assert Bets(4).lower([], TAIL) == -4
