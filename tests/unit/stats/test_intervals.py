"""Properties of intervals of means."""

from __future__ import annotations

import pytest

from keval.stats.intervals import FEWEST_SAMPLES, interval, t_interval


def test_the_interval_is_that_of_students_t() -> None:
    """The worked example of the specification: six samples, five degrees of freedom."""
    assert t_interval(3.4027777777777777, 0.4251452131, 6) == pytest.approx((2.309907, 4.495648), abs=1e-6)


def test_many_samples_give_the_normal_interval() -> None:
    """With many degrees of freedom t is the normal quantile."""
    assert t_interval(0.0, 1.0, 10**9) == pytest.approx((-1.959963984540054, 1.959963984540054))


@pytest.mark.parametrize(("n", "se"), [(0, 1.0), (1, 1.0), (5, 0.0), (5, -1.0)])
def test_there_is_no_interval_without_spread(n: int, se: float) -> None:
    """One value, or values that are all equal, have no interval, least of all one of width 0."""
    with pytest.raises(ValueError, match="no interval"):
        t_interval(3.0, se, n)


@pytest.mark.parametrize(
    ("mean", "se", "n"), [(None, 0.5, 9), (3.0, None, 9), (3.0, 0.0, 9), (3.0, 0.5, FEWEST_SAMPLES - 1)]
)
def test_too_little_to_go_by_gives_no_interval(mean: float | None, se: float | None, n: int) -> None:
    """Without a mean, a spread or enough samples both ends are null."""
    assert interval(mean, se, n) == (None, None)


def test_enough_samples_give_an_interval() -> None:
    """From the fewest samples on it is Student's t interval."""
    assert interval(3.0, 0.5, FEWEST_SAMPLES) == t_interval(3.0, 0.5, FEWEST_SAMPLES)
