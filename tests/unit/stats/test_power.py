from __future__ import annotations

from math import ceil, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.stats.power import (
    Aim,
    Components,
    best_judgments,
    best_repetitions,
    least_that_reaches,
    normal_difference,
    normal_samples,
    power,
    reach_of_variance,
    samples_needed,
    smallest_difference,
)

PUBLIC = Components(samples=0.4320, responses=3.1352, judgments=1.0620)
"""The components of a public data set of judgments."""

Row = tuple[int, int, float, tuple[int, int], tuple[int, int], tuple[int, int], float, float]

TABLE: list[Row] = [
    (1, 1, 4.6292, (146, 148), (404, 406), (909, 911), 0.8525, 0.6028),
    (1, 3, 3.9212, (124, 126), (342, 344), (770, 772), 0.7846, 0.5548),
    (3, 1, 1.8310, (58, 60), (160, 162), (360, 362), 0.5361, 0.3791),
    (3, 3, 1.5951, (51, 53), (140, 142), (313, 315), 0.5004, 0.3538),
    (10, 1, 0.8517, (27, 29), (75, 77), (168, 170), 0.3656, 0.2586),
    (10, 5, 0.7667, (25, 27), (67, 69), (151, 153), 0.3469, 0.2453),
]
"""Repetitions, judgments, variance; samples by z and by t for 0.5, 0.3 and 0.2; smallest difference of 50, of 100."""


def test_the_example_of_the_publication() -> None:
    """Miller 2024: ω² = 1/9 and nothing else needs 969 samples for 3 %, and 3,876 with a variance of 1/6 each."""
    aim = Aim(0.03)
    assert normal_samples(1 / 9, aim) == pytest.approx(968.997, abs=1e-3)
    assert ceil(normal_samples(1 / 9, aim)) == 969
    assert ceil(normal_samples(Components(1 / 9, 2 / 6).variance(1), aim)) == 3876
    found = Components(1 / 9, 1 / 3)
    assert normal_difference(found.variance(1), 198, aim) == pytest.approx(0.13273, abs=5e-6)
    assert normal_difference(found.variance(10), 198, aim) == pytest.approx(0.07567, abs=5e-6)
    assert Components(1, 2).variance(10) / Components(1, 2).variance(1) == pytest.approx((1 + 2 / 10) / 3)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]},{row[1]}")
def test_the_planning_table_of_public_data(row: Row) -> None:
    """The variance, the samples by the normal approximation and by the t test, and the smallest differences."""
    repetitions, judgments, variance, half, third, fifth, of_50, of_100 = row
    found = PUBLIC.variance(repetitions, judgments)
    assert found == pytest.approx(variance, abs=1e-4)
    for difference, (by_z, by_t) in ((0.5, half), (0.3, third), (0.2, fifth)):
        aim = Aim(difference)
        assert (ceil(normal_samples(found, aim)), samples_needed(found, aim)) == (by_z, by_t)
    assert normal_difference(found, 50, Aim(1)) == pytest.approx(of_50, abs=6e-5)
    assert normal_difference(found, 100, Aim(1)) == pytest.approx(of_100, abs=6e-5)


@settings(max_examples=40)
@given(
    difference=st.floats(0.05, 2), variance=st.floats(0.001, 20), power_=st.floats(0.5, 0.95),
    alpha=st.sampled_from([0.05, 0.05 / 3, 0.01]),
)  # fmt: skip
def test_the_samples_needed_are_the_fewest(difference: float, variance: float, power_: float, alpha: float) -> None:
    """That many reach the power and one fewer does not; the smallest difference that they find is no larger."""
    aim = Aim(difference, power_, alpha)
    n = samples_needed(variance, aim)
    assert n is not None
    assert power(difference, variance, n, alpha) >= power_
    assert n == 2 or power(difference, variance, n - 1, alpha) < power_
    assert smallest_difference(variance, n, aim) <= difference * (1 + 1e-9)


@pytest.mark.parametrize(("n", "difference"), [(2, 1.0), (6, 0.5), (6, 30.0), (50, 0.1), (1000, 0.2)])
def test_power_is_that_of_scipys_noncentral_t(n: int, difference: float) -> None:
    """It is what the distribution of scipy.stats gives, and 1 for differences far beyond."""
    from scipy import stats

    critical, shift = stats.t.ppf(0.975, n - 1), difference * n**0.5
    expected = stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
    assert power(difference, 1.0, n, 0.05) == pytest.approx(expected, abs=1e-9)
    assert power(1e6, 1.0, 6, 0.05) == pytest.approx(1)


@pytest.mark.parametrize("variance", [0.0, 5e-324])
def test_what_does_not_vary_needs_the_fewest(variance: float) -> None:
    """Without variance two samples find any difference, of which there is no smallest, and none is found by chance."""
    assert (samples_needed(variance, Aim(0.1)), smallest_difference(variance, 5, Aim(0.1))) == (2, 0.0)
    assert (power(0.1, variance, 5, 0.05), power(0.0, variance, 5, 0.05)) == (1.0, 0.05)
    assert samples_needed(1.0, Aim(1e-6)) is None


@given(difference=st.floats(0.05, 2), size=st.integers(2, 20), variance=st.floats(0.01, 9), power_=st.floats(0.5, 0.95))
def test_samples_in_clusters_have_fewer_degrees(difference: float, size: int, variance: float, power_: float) -> None:
    """Never fewer samples are needed than on their own, and two clusters at least."""
    aim = Aim(difference, power_)
    together = Aim(difference, power_, cluster_size=size)
    alone, needed = samples_needed(variance, aim), samples_needed(variance, together)
    assert alone is not None
    assert needed is not None
    assert needed >= max(alone, 2 * size)
    assert power(difference, variance, needed, 0.05, needed / size) >= power_
    assert together.shared(3).cluster_size == size


def test_repetitions_reach_only_what_samples_leave() -> None:
    """The least number of repetitions is found, and none where the samples differ too much among themselves."""
    aim = Aim(0.3)
    found = least_that_reaches(PUBLIC.variance, 60, aim, 3)
    assert found is not None
    assert power(0.3, PUBLIC.variance(found), 60, 0.05) >= 0.8 > power(0.3, PUBLIC.variance(found - 1), 60, 0.05)
    assert least_that_reaches(PUBLIC.variance, 20, aim, 3) is None
    assert least_that_reaches(PUBLIC.variance, 10_000, aim, 3) == 3


def test_samples_come_first_where_they_cost_nothing() -> None:
    """r* is 0 for free samples, grows with their price as its root, and j* with that of a response."""
    assert best_repetitions(PUBLIC, 1, 0, 0.02) == 0
    assert best_repetitions(PUBLIC, 1, 1, 0.25) == pytest.approx((4.1972 / 0.4320 * 4) ** 0.5)
    assert best_judgments(PUBLIC, 0.09, 0.01) == pytest.approx((1.0620 / 3.1352 * 9) ** 0.5)
    assert best_judgments(PUBLIC, 0.09, 0) == inf
    assert best_judgments(Components(1, 1, 0), 0.09, 0) == 0


def test_a_small_pilot_knows_little_of_the_variance() -> None:
    """Browne's factor at 80 %: 5 / χ²(0.2; 5) for 6 values, and close to 1 for many."""
    assert reach_of_variance(6, 0.8) == pytest.approx(5 / 2.342534, rel=1e-6)
    assert reach_of_variance(10_001, 0.8) == pytest.approx(1.0121, abs=1e-3)
