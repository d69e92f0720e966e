"""Student's t, which every interval and test needs: to import it from scipy takes longer than a small report."""

from __future__ import annotations

import math

from keval.stats.incomplete_beta import incomplete_beta

MANY = 1000
"""From so many degrees of freedom on a series around the normal quantile has as many digits."""


def two_sided(level: float, degrees: int) -> float:
    """Return the t that a value with so many degrees of freedom stays within on both sides of 0, as often as `level`.

    `level` lies between 0 and 1, `degrees` is at least 1. Twelve digits are exact for any level up to 0.999.
    """
    return _of_many(level, degrees) if degrees >= MANY else _of_few(level, degrees)


def _of_few(level: float, degrees: int) -> float:
    """Find it by Newton's method, which from 0 on comes ever closer from below."""
    log_peak = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    t = 0.0
    while True:
        density = 2 * math.exp(log_peak - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        closer = t + (level - _within(t, degrees)) / density
        if closer <= t or math.isclose(closer, t, rel_tol=1e-15):
            return closer
        t = closer


def _within(t: float, degrees: int) -> float:
    """Return the probability of a value between -t and t: a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(degrees))
    cosine_squared = degrees / (degrees + t * t)
    is_odd = degrees % 2
    term, terms = (math.cos(angle), []) if is_odd else (1.0, [])
    for number in range(2 + is_odd, degrees + 1, 2):
        terms.append(term)
        term *= (number - 1) / number * cosine_squared
    total = math.sin(angle) * math.fsum(terms)
    return 2 / math.pi * (angle + total) if is_odd else total


def _of_many(level: float, degrees: int) -> float:
    """Return the first terms of a series around the normal quantile (Abramowitz and Stegun 26.7.5)."""
    from statistics import NormalDist

    x = NormalDist().inv_cdf((1 + level) / 2)
    terms = (
        x,
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))


def upper_tail(t: float, degrees: int) -> float:
    """Return the probability of a value above t with so many degrees of freedom, at least 1; nine digits are exact.

    Where t is far out it is the tail itself that has these digits, not one minus it.
    """
    beyond = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t), t * t / (degrees + t * t)) / 2
    return beyond if t >= 0 else 1 - beyond
