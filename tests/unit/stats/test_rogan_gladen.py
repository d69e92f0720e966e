from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.stats.rogan_gladen import ErrorRates, really_passing


def test_the_authors_example() -> None:
    """40 % of 1,000 pass, specificity 0.7 and sensitivity 0.9 of 200 each: 16.7 % really pass, 5.6 to 26.3 %."""
    found = really_passing(0.4, 1000, ErrorRates(0.7, 0.9, 200, 200))
    assert found == pytest.approx((0.1666667, 0.0563507, 0.2627330), abs=1e-7)


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    """Error rates that add up to 1 say nothing of what really passes: null, and no number."""
    assert really_passing(0.4, 1000, ErrorRates(0.4, 0.6, 200, 200)) == (None, None, None)
    rate, low, high = really_passing(0.4, 1000, ErrorRates(0.5, 0.51, 3, 3))
    assert rate is not None
    assert (low is None) == (high is None)


shares = st.floats(0, 1)


rates = st.builds(ErrorRates, st.floats(0.55, 1), st.floats(0.55, 1), st.integers(1, 500), st.integers(1, 500))


@given(shares, st.integers(1, 5000), rates)
def test_a_share_stays_a_share(rate: float, number: int, wrong: ErrorRates) -> None:
    """Estimate and interval lie from 0 to 1, in order; a judge that is never wrong is believed."""
    found, low, high = really_passing(rate, number, wrong)
    assert found is not None
    assert 0 <= found <= 1
    if low is not None and high is not None:
        assert 0 <= low <= high <= 1
    assert really_passing(rate, number, ErrorRates(1, 1, 9, 9))[0] == pytest.approx(rate)
