"""Intervals for shares: of samples that pass, and of chances to pass that lie between 0 and 1.

Sources: Wilson 1927; the effective number of samples by Kish, with the degrees of freedom of Korn and Graubard 1998, as
Franco et al. 2019 recommend it for clustered shares; Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import fmean

from keval.projections.views import NOISE
from keval.stats.clustered_se import clustered_se
from keval.stats.intervals import LEVEL, Interval
from keval.stats.student import two_sided

Z = 1.959963984540054
"""The quantile of the normal distribution for a two-sided level of 95 %."""


def wilson(share: float, n: float) -> Interval:
    """Return Wilson's 95 % interval of a share of n independent cases, of which n may be an effective number.

    Two nulls without a case.
    """
    if n <= 0:
        return None, None
    middle = share + Z**2 / (2 * n)
    reach = Z * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    size = 1 + Z**2 / n
    # At the ends of the scale one end of the interval is that end; float noise would put it beside.
    low = (middle - reach) / size if share > 0 else 0.0
    return low, (middle + reach) / size if share < 1 else 1.0


def clopper_pearson(share: float, n: float) -> Interval:
    """Return the exact 95 % interval of a share of n independent cases: it is never too short, and often too long.

    With an effective number of cases it is that of Korn and Graubard 1998. Two nulls without a case.
    """
    from scipy.special import betaincinv

    if n <= 0:
        return None, None
    passes, tail = share * n, (1 - LEVEL) / 2
    lower = float(betaincinv(passes, n - passes + 1, tail)) if passes > 0 else 0.0
    upper = float(betaincinv(passes + 1, n - passes, 1 - tail)) if passes < n else 1.0
    return lower, upper


def effective_size(share: float, se: float, n: int, trials: int, degrees: int | None = None) -> float:
    """Return of how many independent cases a share would have this standard error.

    `n` samples with `trials` of all samples together, which are the most it can be. `degrees` are those of freedom of
    the standard error, where it is not the share alone that tells it: where samples pass now and then, or belong
    together.
    """
    if se <= 0:
        return n
    number = min(trials, share * (1 - share) / se**2 * n / (n - 1))
    return number if degrees is None else number * (Z / two_sided(LEVEL, degrees)) ** 2


@dataclass(frozen=True, slots=True)
class Share:
    """A value from 0 to 1 that so many samples have, all of the same cluster if they belong together with others."""

    value: float
    samples: int = 1
    cluster: str | None = None


def effective_number(shares: Sequence[Share], trials: int) -> float:
    """Return with how many independent cases samples vary as they do; each is one where all are alike.

    `trials` are those of all samples together. All of them have a cluster, at least two different ones, or none has.
    """
    n = sum(share.samples for share in shares)
    values = [share.value for share in shares]
    if max(values) - min(values) < NOISE:
        return n
    mean = fsum(share.value * share.samples for share in shares) / n
    se = sqrt(fsum(share.samples * (share.value - mean) ** 2 for share in shares) / (n - 1) / n)
    clustered = clustered_se((share.cluster, share.samples * (share.value - mean) / n) for share in shares)
    if clustered is not None:
        degrees = len({share.cluster for share in shares}) - 1
        return effective_size(mean, max(se, clustered), n, trials, degrees)
    return effective_size(mean, se, n, trials, n - 1 if any(0 < value < 1 for value in values) else None)


def share_interval(values: Sequence[float], trials: int) -> Interval:
    """Return the 95 % interval of the mean of the samples' values, each from 0 to 1."""
    if not values:
        return None, None
    return wilson(fmean(values), effective_number([Share(value) for value in values], trials))
