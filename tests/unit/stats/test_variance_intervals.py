"""Properties of the interval of a variance."""

from __future__ import annotations

import pytest

from keval.stats.variance_intervals import variance_interval


def test_the_interval_is_that_of_chi_square() -> None:
    """With 10 degrees of freedom the quantiles are 3.2470 and 20.4832, as tables have them."""
    assert variance_interval(2.0, 10) == pytest.approx((20 / 20.4832, 20 / 3.2470), rel=1e-4)


@pytest.mark.parametrize(("variance", "degrees"), [(None, 5), (0.0, 5), (1.0, 0), (1.0, None)])
def test_no_variance_has_no_interval(variance: float | None, degrees: int | None) -> None:
    """Values that are all alike do not say how far they could differ."""
    assert variance_interval(variance, degrees) == (None, None)
