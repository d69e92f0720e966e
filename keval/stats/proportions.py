"""Intervals for shares: of samples that pass, and of chances to pass that lie between 0 and 1.

Sources: Wilson 1927; the effective number of samples by Kish, with the degrees of freedom of Korn and Graubard 1998, as
Franco et al. 2019 recommend it for clustered shares; Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean, variance

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


def effective_number(values: Sequence[float], trials: int, clusters: Sequence[str] | None = None) -> float:
    """Return with how many independent cases the samples' values, each from 0 to 1, vary as they do.

    `clusters` says of samples that belong together which is in which; there are at least two of them.
    """
    n, mean = len(values), fmean(values)
    se = sqrt(variance(values) / n) if n > 1 else 0.0
    degrees = n - 1 if any(0 < value < 1 for value in values) else None
    if clusters is not None:
        sums: dict[str, float] = defaultdict(float)
        for value, cluster in zip(values, clusters, strict=True):
            sums[cluster] += value - mean
        degrees = len(sums) - 1
        se = max(se, sqrt(len(sums) / degrees * fsum(each**2 for each in sums.values())) / n)
    return effective_size(mean, se, n, trials, degrees)


def share_interval(values: Sequence[float], trials: int) -> Interval:
    """Return the 95 % interval of the mean of the samples' values, each from 0 to 1."""
    return wilson(fmean(values), effective_number(values, trials)) if values else (None, None)
