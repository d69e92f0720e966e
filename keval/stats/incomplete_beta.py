"""The regularized incomplete beta function, which the tails of Student's t and of F are."""

from __future__ import annotations

import math
import sys

MOST_TERMS = 100_000
"""Terms of a continued fraction at most; it takes far fewer."""


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b); `rest` is 1 - x, of which 1 - x would lose digits."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(log_front) / (a * _continued_fraction(a, b, x))


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Return the fraction that I_x(a, b) is divided by (DLMF 8.17.22), from the front (modified Lentz)."""
    value, above, below = 1.0, 1.0, 0.0
    for number in range(1, MOST_TERMS):
        half = number // 2
        if number % 2:
            term = -(a + half) * (a + b + half) * x / ((a + number - 1) * (a + number))
        else:
            term = half * (b - half) * x / ((a + number - 1) * (a + number))
        below = 1 / (1 + term * below)
        above = 1 + term / above
        value *= above * below
        if abs(above * below - 1) < sys.float_info.epsilon:
            break
    return value
