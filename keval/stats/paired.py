"""What is computed of paired differences beside mean and spread: tests, effect sizes, what they say of a margin.

Sources: Miller 2024 (arXiv 2411.00640), section 4.2; Hedges 1981; Kerby 2014; Schuirmann 1987.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from keval.stats.student import upper_tail

FEWEST = 2
"""Fewer samples do not differ from each other."""


def tested_se(se: float | None, clustered: float | None) -> float | None:
    """Return the standard error that tests and the interval of samples in clusters rest on: the larger one.

    Clusters whose samples differ more than chance would have it have the smaller one. None where either is not known.
    """
    return None if se is None or clustered is None else max(se, clustered)


def t_p(difference: float | None, se: float | None, degrees: int) -> float | None:
    """Return the two-sided p of the paired t test; None where the differences do not vary."""
    return 2 * upper_tail(abs(difference) / se, degrees) if difference is not None and se else None


def not_lower_p(difference: float | None, se: float | None, degrees: int, margin: float | None) -> float | None:
    """Return the one-sided p against being lower by the margin or more (non-inferiority)."""
    if difference is None or not se or margin is None:
        return None
    return upper_tail((difference + margin) / se, degrees)


def equivalent_p(difference: float | None, se: float | None, degrees: int, margin: float | None) -> float | None:
    """Return the p against differing by the margin or more: the larger one of two one-sided tests (TOST)."""
    one = not_lower_p(difference, se, degrees, margin)
    other = None if difference is None else not_lower_p(-difference, se, degrees, margin)
    return None if one is None or other is None else max(one, other)


def standardized(difference: float | None, sd: float | None) -> float | None:
    """Return d_z, the difference in standard deviations of the differences; None where they do not vary."""
    return difference / sd if difference is not None and sd else None


def hedges(difference: float | None, sd: float | None, n: int) -> float | None:
    """Return g_z, which is d_z without its bias for few samples; None also for 2 samples, where it is always 0."""
    d = standardized(difference, sd)
    return None if d is None or n <= FEWEST else d * (1 - 3 / (4 * (n - 1) - 1))


def win_rate(wins: int, ties: int, n: int) -> float | None:
    """Return the share of samples that are won, ties as half a win."""
    return (wins + ties / 2) / n if n else None


def rank_biserial(differences: Mapping[float, int]) -> float | None:
    """Return (W+ - W-) / (W+ + W-) of the ranks of differences, each of which occurs so often; 0 has no rank."""
    sizes = sorted((abs(difference), difference > 0, times) for difference, times in differences.items() if difference)
    before, favourable, against = 0, 0.0, 0.0
    for _, group in groupby(sizes, key=lambda each: each[0]):
        equal = list(group)
        times = sum(of for _, _, of in equal)
        rank = before + (times + 1) / 2
        favourable += rank * sum(of for _, is_better, of in equal if is_better)
        against += rank * sum(of for _, is_better, of in equal if not is_better)
        before += times
    return (favourable - against) / (favourable + against) if before else None
