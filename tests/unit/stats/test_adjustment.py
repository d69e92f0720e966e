"""Properties of p-values that are adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.stats.adjustment import benjamini_hochberg, holm

Adjust = Callable[[Sequence[float | None]], list[float | None]]

PS = [0.001, 0.013, 0.021, 0.04, 0.3]


def test_the_published_checks() -> None:
    """What statsmodels gives for five p-values, by both methods."""
    assert holm(PS) == pytest.approx([0.005, 0.052, 0.063, 0.08, 0.3])
    assert benjamini_hochberg(PS) == pytest.approx([0.005, 0.0325, 0.035, 0.05, 0.3])


def test_what_has_no_p_counts_for_nothing() -> None:
    """A null stays null and makes no other p larger; without any p there is nothing to adjust."""
    assert holm([None, 0.02, None]) == [None, 0.02, None]
    assert holm([]) == benjamini_hochberg([]) == []


@given(st.lists(st.floats(0, 1), max_size=8), st.sampled_from([holm, benjamini_hochberg]))
@settings(max_examples=50)
def test_adjusted_is_never_smaller_and_in_the_same_order(ps: list[float], adjust: Adjust) -> None:
    """Adjusting makes no p smaller, none larger than 1, and exchanges no two."""
    adjusted = [found for found in adjust(ps) if found is not None]
    assert len(adjusted) == len(ps)
    assert all(p <= found <= 1 for p, found in zip(ps, adjusted, strict=True))
    ranked = sorted(zip(ps, adjusted, strict=True), key=lambda pair: pair[0])
    assert [found for _, found in ranked] == sorted(adjusted)
