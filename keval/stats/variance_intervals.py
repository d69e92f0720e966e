"""Intervals of a variance, and of a share of it, of values that are normally distributed."""

from __future__ import annotations

from keval.ids import JsonObject
from keval.projections.views import NOISE
from keval.stats.f_distribution import quantile
from keval.stats.intervals import LEVEL, Interval


def variance_interval(variance: float | None, degrees: int | None) -> Interval:
    """Return the 95 % interval of a variance with so many degrees of freedom, by the chi-square distribution.

    Two nulls where there is no variance, or none that is above 0: of values that are all alike it says nothing.
    """
    if not variance or not degrees:
        return None, None
    from scipy.special import chdtri  # the inverse of the upper tail

    tail = (1 - LEVEL) / 2
    return degrees * variance / float(chdtri(degrees, tail)), degrees * variance / float(chdtri(degrees, 1 - tail))


def icc_interval(row: JsonObject) -> Interval:
    """Return the 95 % interval of the share of the variance between samples (ICC(1,1)), by the F distribution.

    `row` has the columns of the view condition_scores. Two nulls where an answer has several judgments, where samples
    have unequal numbers of answers, and where nothing varies within samples. Source: Shrout and Fleiss 1979.
    """
    within, k, responses = row["var_response_and_judgment"], row["k3"], row["responses_per_sample"]
    if not within or row["icc_sample"] is None or abs(k - responses) > NOISE * responses:
        return None, None
    # Each answer has one judgment, or is computed and has none; of a pair without an answer nobody was asked.
    answers = row["n_judgments"] or row["scored"]
    samples, tail = round(answers / responses), (1 - LEVEL) / 2
    ratio, degrees = row["ms_sample"] / within, (samples - 1, answers - samples)
    lower = ratio / quantile(*degrees, 1 - tail)
    upper = ratio * quantile(*degrees[::-1], 1 - tail)
    return (lower - 1) / (lower + k - 1), (upper - 1) / (upper + k - 1)
