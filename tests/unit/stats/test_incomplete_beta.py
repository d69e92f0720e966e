"""Properties of the regularized incomplete beta function."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import betainc

from keval.stats.incomplete_beta import incomplete_beta


@given(st.floats(0.5, 1e5), st.floats(0.5, 1e5), st.floats(0, 1, allow_subnormal=False))
@example(0.5, 0.5, 0.0)
@example(0.5, 0.5, 1.0)
@example(2.0, 3.0, 0.5)
def test_it_is_what_scipy_says(a: float, b: float, x: float) -> None:
    """On both sides of the middle, where the fraction is that of the other tail, and at the ends.

    Of subnormal numbers scipy is wrong in the first digit.
    """
    assert incomplete_beta(a, b, x, 1 - x) == pytest.approx(float(betainc(a, b, x)), rel=1e-7, abs=1e-300)
