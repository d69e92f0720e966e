"""Whether a score passes: it reaches a threshold, but for what sums of floats may take away from it."""

from __future__ import annotations

SLACK = 1e-6
"""How far below its threshold a score passes: 1 - 0.9 is no less than 0.1. Queries are given it, too."""


def passes(score: float, threshold: float) -> bool:
    """Return whether a score reaches a threshold, as queries have it."""
    return score >= threshold - SLACK
