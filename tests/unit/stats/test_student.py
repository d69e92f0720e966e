"""Properties of Student's t: its quantile and its tail."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import t as student

from keval.stats.student import MANY, two_sided, upper_tail


@given(st.integers(1, 3 * MANY), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]))
@example(1, 0.95)
@example(MANY - 1, 0.95)
@example(MANY, 0.95)
@example(10**6, 0.95)
def test_it_is_what_scipy_says(degrees: int, level: float) -> None:
    """For few and for many degrees of freedom, and where one way of finding it ends and the other begins."""
    assert two_sided(level, degrees) == pytest.approx(float(stdtrit(degrees, (1 + level) / 2)), rel=1e-12)


@pytest.mark.parametrize(("degrees", "printed"), [(1, 12.706), (5, 2.571), (30, 2.042), (120, 1.980)])
def test_it_is_what_tables_print(degrees: int, printed: float) -> None:
    """The column for 95 % of any printed table."""
    assert round(two_sided(0.95, degrees), 3) == printed


@given(st.integers(1, 10**6), st.floats(-40, 40))
@example(5, 3.737047)
@example(10**6, 30.0)
@example(1, 0.0)
@example(3, 1e5)
def test_the_tail_is_what_scipy_says(degrees: int, t: float) -> None:
    """Also far out, where one minus the rest has no digits left."""
    assert upper_tail(t, degrees) == pytest.approx(float(student.sf(t, degrees)), rel=1e-8, abs=1e-300)


@given(st.integers(1, 3000), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_tail_beyond_a_quantile_is_half_of_what_is_left(degrees: int, level: float) -> None:
    """Quantile and tail are of one distribution."""
    assert 2 * upper_tail(two_sided(level, degrees), degrees) == pytest.approx(1 - level, rel=1e-9)
