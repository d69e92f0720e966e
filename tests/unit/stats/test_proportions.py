from __future__ import annotations

from math import sqrt
from statistics import fmean, stdev

import pytest

from keval.stats.proportions import Share, effective_number, effective_size, share_interval, wilson


@pytest.mark.parametrize(
    ("passes", "n", "low", "high"),
    [
        (3, 5, 0.23072, 0.88238),
        (5, 5, 0.56552, 1),
        (0, 5, 0, 0.43448),
        (3, 3, 0.43850, 1),
        (8, 10, 0.490162, 0.943318),
        (0, 10, 0, 0.277533),
        (10, 10, 0.722467, 1),
    ],
)
def test_wilsons_interval_is_that_of_the_specification(passes: int, n: int, low: float, high: float) -> None:
    """Worked examples; with one trial per sample the samples are the cases."""
    assert wilson(passes / n, n) == pytest.approx((low, high), abs=1e-5)
    assert share_interval([1.0] * passes + [0.0] * (n - passes), n) == pytest.approx((low, high), abs=1e-5)


def test_repetitions_of_a_sample_are_no_independent_cases() -> None:
    """Ten samples with three trials each count as 12 cases, not as 30: a worked example of the specification."""
    values = [passes / 3 for passes in (3, 3, 2, 3, 1, 3, 0, 2, 3, 3)]
    share, se = fmean(values), stdev(values) / sqrt(10)
    assert (share, se) == pytest.approx((0.766667, 0.111665), abs=1e-6)
    assert effective_size(share, se, 10, 30) == pytest.approx(15.940594, abs=1e-5)
    assert effective_number([Share(value) for value in values], 30) == pytest.approx(11.966169, abs=1e-5)
    assert share_interval(values, 30) == pytest.approx((0.483525, 0.920202), abs=1e-5)
    assert wilson(23 / 30, 30) == pytest.approx((0.590717, 0.882076), abs=1e-5), "which would be too short"


def test_without_a_case_there_is_no_interval() -> None:
    """Nothing is known of nothing; of samples that are all alike, each is a case."""
    assert (wilson(0.5, 0), share_interval([], 0)) == ((None, None), (None, None))
    assert effective_number([Share(0.5)] * 3, 9) == 3


@pytest.mark.parametrize("n", [48, 50])
def test_samples_that_are_all_alike_but_for_float_noise_are_so_many_cases(n: int) -> None:
    """A mean that is beside its values by its last bit makes no cluster differ from another."""
    assert effective_number([Share(1 / 3, cluster=str(number % (n // 2))) for number in range(n)], 3 * n) == n
