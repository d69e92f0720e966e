from __future__ import annotations

import pytest

from keval.exports._gate import text
from keval.reports.gate import Finding, Outcome
from keval.reports.gate_rules import Unit


@pytest.mark.parametrize(
    ("unit", "limit", "value", "shown"),
    [
        ("usd", 0.0015, 0.00152, "$0.00152"),
        ("usd", 0.0015, 0.002, "$0.0020"),
        ("usd", 0.0015, 0.0015, "$0.0015"),
        ("seconds", 0.241, 0.2412, "0.2412 s"),
        ("seconds", 0.5, 0.25, "0.25 s"),
        ("share", 0.05, 0.0501, "5.01%"),
        ("share", 0.05, 0.06, "6.0%"),
        ("score", 0.8, 0.7999, "0.7999"),
        ("score", 0.8, 0.8 - 1e-15, "0.80"),
        ("score", 0.8, 0.7, "0.70"),
    ],
)
def test_a_number_close_to_its_limit_does_not_look_like_it(unit: Unit, limit: float, value: float, shown: str) -> None:
    """A line that says «0.80 is not 0.8» would contradict itself; what differs by float noise only is the same."""
    found = Finding("rule", "about", "not met", "why", "<=", limit, unit, value, None, None, "3 answers", False)
    line, _ = text(Outcome((found,), mock=False))
    assert f" {shown}, 3 answers" in line
