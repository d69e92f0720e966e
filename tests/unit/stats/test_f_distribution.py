"""Properties of the quantile of F."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import fdtri

from keval.stats.f_distribution import quantile


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from([0.001, 0.025, 0.25, 0.5, 0.975, 0.999]))
@example(1, 1, 0.001)
@example(1, 1, 0.999)
@example(1, 10**6, 0.001)
@example(10**6, 1, 0.999)
@example(99_999, 400_000, 0.025)
def test_it_is_what_scipy_says(above: int, below: int, share: float) -> None:
    """For few and for many degrees of freedom, on either side of the middle."""
    assert quantile(above, below, share) == pytest.approx(float(fdtri(above, below, share)), rel=1e-8)


@pytest.mark.parametrize(
    ("above", "below", "printed"), [(1, 1, 647.79), (2, 10, 5.46), (9, 20, 2.84), (30, 30, 2.07), (120, 60, 1.58)]
)
def test_it_is_what_tables_print(above: int, below: int, printed: float) -> None:
    """The table for 97.5 % of any printed book."""
    assert round(quantile(above, below, 0.975), 2) == printed
