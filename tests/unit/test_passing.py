"""Which scores pass."""

from __future__ import annotations

import pytest

from keval.passing import SLACK, passes


@pytest.mark.parametrize(
    ("score", "is_pass"), [(0.1, True), (1 - 0.9, True), (0.1 - SLACK / 2, True), (0.1 - 2 * SLACK, False)]
)
def test_what_arithmetic_takes_away_is_no_reason_to_fail(score: float, is_pass: bool) -> None:
    """1 - 0.9 is less than 0.1 as floats are, and passes all the same."""
    assert passes(score, 0.1) is is_pass
