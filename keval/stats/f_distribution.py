"""The quantile of F, which the interval of an ICC needs: to import it from scipy takes as long as to read an index."""

from __future__ import annotations

import math

from keval.stats.incomplete_beta import incomplete_beta

MOST_STEPS = 100
"""Steps of a search at most; it takes far fewer."""

FAR = 700.0
"""As far as a logarithm of odds goes whose odds are a float."""

NEAR = 1e-12
"""Two logarithms of odds this near are of one quantile."""


def quantile(above: int, below: int, share: float) -> float:
    """Return what an F with these degrees of freedom, each at least 1, is below as often as `share` says.

    `share` lies between 0 and 1. Eight digits are exact. It is found by Newton's method among the logarithms of odds
    x / (1 - x) of a beta distribution, which are as fine near 1 as near 0; a step out of the range halves the range.
    """
    low, odds, high = -FAR, math.log(above / below), FAR
    for _ in range(MOST_STEPS):
        found, slope = _share_and_slope(above / 2, below / 2, odds)
        low, high = (odds, high) if found < share else (low, odds)
        closer = odds + (share - found) / slope if slope else math.inf
        if not low < closer < high:
            closer = (low + high) / 2
        step, odds = abs(closer - odds), closer
        if step < NEAR:
            break
    return below / above * math.exp(odds)


def _share_and_slope(a: float, b: float, odds: float) -> tuple[float, float]:
    """Return the share of a beta distribution below these odds, given by their logarithm, and how fast it grows."""
    x, rest = 1 / (1 + math.exp(-odds)), 1 / (1 + math.exp(odds))
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    slope = math.exp(a * math.log(x) + b * math.log(rest) - log_beta)
    return incomplete_beta(a, b, x, rest), slope
