"""Properties of intervals of means."""

from __future__ import annotations

import pytest

from keval.stats.intervals import t_interval


def test_the_interval_is_that_of_students_t() -> None:
    """The worked example of the specification: six samples, five degrees of freedom."""
    assert t_interval(3.4027777777777777, 0.4251452131, 6) == pytest.approx((2.309907, 4.495648), abs=1e-6)


def test_many_samples_give_the_normal_interval() -> None:
    """With many degrees of freedom t is the normal quantile."""
    assert t_interval(0.0, 1.0, 10**9) == pytest.approx((-1.959963984540054, 1.959963984540054))


def test_another_level_gives_another_width() -> None:
    """The level is the probability between the ends: at one degree of freedom the quartile of t is 1."""
    assert t_interval(2.0, 0.5, 2, level=0.5) == pytest.approx((1.5, 2.5))


@pytest.mark.parametrize(("n", "se"), [(0, 1.0), (1, 1.0), (5, 0.0), (5, -1.0)])
def test_there_is_no_interval_without_spread(n: int, se: float) -> None:
    """One value, or values that are all equal, have no interval, least of all one of width 0."""
    with pytest.raises(ValueError, match="no interval"):
        t_interval(3.0, se, n)
