"""How many samples, repetitions and judgments a comparison takes, and what it can find with those that it has.

Source: Miller 2024 (arXiv 2411.00640), section 5, equations 9 and 10, extended by the variance between judgments of
one response; the power is that of the paired t test, by the noncentral t distribution. Optimal repetitions: Cochran,
Sampling Techniques (1977), section 10.6. The reach of a pilot's variance: Browne 1995 (Statistics in Medicine 14).

Scores are in units of their scale, variances in its square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf, sqrt
from statistics import NormalDist

MOST_SAMPLES = 10_000_000
"""Nobody asks more questions; a difference that takes more is out of reach."""


@dataclass(frozen=True, slots=True)
class Components:
    """What the differences of samples vary by; those of responses and judgments are summed over both conditions."""

    samples: float
    """ω²: how much the true difference varies between samples."""
    responses: float | None
    """How much repetitions of one sample vary; None if nothing was repeated, and it is part of the samples'."""
    judgments: float | None = 0.0
    """How much judgments of one response vary; None if none was judged twice, and it is part of the responses'."""

    def variance(self, repetitions: float, judgments: float = 1) -> float:
        """Return the variance of a sample's difference: V(r, j) = ω² + ΣR / r + ΣJ / (r · j)."""
        judged = (self.judgments or 0.0) / judgments
        return self.samples + ((self.responses or 0.0) + judged) / repetitions


@dataclass(frozen=True, slots=True)
class Aim:
    """What a plan is to reach."""

    difference: float
    """The smallest difference that matters; more than 0."""
    power: float = 0.8
    """How often it is to be found if it is there."""
    alpha: float = 0.05
    """How often a difference may be found that is not there: of this test, two-sided."""
    tests: int = 1
    """With how many tests, this one included, it shares what all may find by chance: by Holm, the first has least."""
    cluster_size: float = 1.0
    """How many samples belong together, on the mean: the t test has one degree less than there are clusters."""

    def shared(self, tests: int) -> Aim:
        """Return the aim of one of so many tests; what all may find by chance is divided among them."""
        return replace(self, alpha=self.alpha / tests, tests=tests)

    def reached_by(self, variance: float, n: int) -> bool:
        """Return whether the t test of n samples finds the difference often enough."""
        return power(self.difference, variance, n, self.alpha, n / self.cluster_size) >= self.power

    @property
    def z(self) -> float:
        """The sum of the two normal quantiles that a large sample needs: z_(alpha/2) + z_beta."""
        normal = NormalDist()
        return normal.inv_cdf(1 - self.alpha / 2) + normal.inv_cdf(self.power)


def normal_samples(variance: float, aim: Aim) -> float:
    """Return how many samples the normal approximation asks for: z² · V / δ²; not rounded."""
    return aim.z**2 * variance / aim.difference**2


def normal_difference(variance: float, n: float, aim: Aim) -> float:
    """Return the smallest difference that n samples find by the normal approximation: z · √(V / n)."""
    return aim.z * sqrt(variance / n)


def power(difference: float, variance: float, n: int, alpha: float, clusters: float | None = None) -> float:
    """Return how often a paired, two-sided t test of n samples finds a difference; n, or clusters, is at least 2.

    `clusters`: of samples that belong together there are so many. Without variance any difference is found, and none
    is not.
    """
    degrees = (n if clusters is None else clusters) - 1
    error = sqrt(max(variance, 0) / n)
    if not error:  # also of a variance so small that a float has no share of it
        return 1.0 if difference else alpha
    from scipy.special import nctdtr, stdtrit

    shift = abs(difference) / error
    critical = float(stdtrit(degrees, 1 - alpha / 2))
    # Far from 0 the noncentral t is too small to be computed there: the test finds the difference.
    below, above = float(nctdtr(degrees, shift, -critical)), float(nctdtr(degrees, shift, critical))
    return 1.0 if above != above else 1 - above + (0.0 if below != below else below)  # noqa: PLR0124 - NaN


def samples_needed(variance: float, aim: Aim) -> int | None:
    """Return the fewest samples with which the t test reaches the aim; None if it is more than `MOST_SAMPLES`."""
    estimate = normal_samples(variance, aim)
    if estimate > MOST_SAMPLES:
        return None
    fewest = ceil(2 * aim.cluster_size)
    return _least(lambda n: aim.reached_by(variance, n), fewest, max(fewest, ceil(estimate)))


def smallest_difference(variance: float, n: int, aim: Aim) -> float:
    """Return the smallest difference that the t test of n samples finds as often as the aim's power says."""
    low, high = 0.0, normal_difference(max(variance, 0), n, aim)
    if not high:
        return 0.0
    while not replace(aim, difference=high).reached_by(variance, n):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if replace(aim, difference=middle).reached_by(variance, n) else (middle, high)
    return high


def least_that_reaches(variance_of: Callable[[int], float], n: int, aim: Aim, begin: int) -> int | None:
    """Return the least number, from `begin` on, with whose variance n samples reach the aim; None if none does.

    `variance_of` falls with its number, of repetitions or judgments, and tends to what is left at infinity.
    """
    return _least(lambda number: aim.reached_by(variance_of(number), n), begin, 2 * begin)


def best_repetitions(found: Components, judgments: float, sample_cost: float, response_cost: float) -> float:
    """Return r* = √( (ΣR + ΣJ / j) / ω² · c_s / c_r ), the repetitions that find most for their price; not rounded.

    `response_cost` has the judgments of a response in it. Below 1, as with samples that cost nothing themselves,
    a sample more finds more than a repetition more.
    """
    within = found.variance(1, judgments) - found.samples
    return _root(within * sample_cost, found.samples * response_cost)


def best_judgments(found: Components, response_cost: float, judgment_cost: float) -> float:
    """Return j* = √( ΣJ / ΣR · c_r / c_j ), the judgments per response that find most for their price; not rounded."""
    return _root((found.judgments or 0.0) * response_cost, (found.responses or 0.0) * judgment_cost)


def reach_of_variance(n: int, sure: float) -> float:
    """Return by how much a variance estimated from n values is at most too small, as surely as `sure` says.

    The true variance is at most the estimate times this: (n − 1) / the (1 − sure) quantile of χ² with n − 1 degrees.
    """
    from scipy.special import chdtri

    return float((n - 1) / chdtri(n - 1, sure))


def _root(gain: float, price: float) -> float:
    if not gain:
        return 0.0
    return sqrt(gain / price) if price else inf


def _least(reaches: Callable[[int], bool], begin: int, guess: int) -> int | None:
    """Return the least number from `begin` on that reaches an aim, or None. Larger ones than that reach it, too."""
    if reaches(begin):
        return begin
    low, high = begin, max(guess, begin + 1)
    while not reaches(high):
        low, high = high, 2 * high
        if high > MOST_SAMPLES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
