"""Chooses the interval of a condition's mean that fits what was measured.

A pass rate has Wilson's interval, which holds near 0 and 1 where Student's t is far too short. Its cases are the
samples, or, where a sample passes now and then or belongs to a cluster, as many independent cases as vary like it. Any
other score has Student's t over samples, or over clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keval.ids import JsonObject
from keval.stats import reasons
from keval.stats.intervals import FEWEST_SAMPLES, t_interval
from keval.stats.proportions import clopper_pearson, effective_size, wilson

Method = Literal[
    "t", "t_clustered", "wilson", "wilson_effective_n", "wilson_clustered",
    "clopper_pearson", "clopper_pearson_effective_n", "clopper_pearson_clustered",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """An interval, how it is computed, or why there is none."""

    method: Method
    lower: float | None = None
    upper: float | None = None
    reason: str = ""


def mean_interval(row: JsonObject, *, exact: bool = False) -> MeanInterval:
    """Return the interval of the mean in a row of `condition_scores`; `exact`: Clopper and Pearson's for pass rates."""
    method = _method(row, exact=exact)
    reason = _why_none(row)
    if reason is not None:
        return MeanInterval(method, reason=reason)
    clustered = row["has_clusters"]
    # Clusters whose samples differ more than chance would have it give a shorter interval: the longer one counts.
    se = max(row["se"], row["se_clustered"]) if clustered else row["se"]
    degrees = (row["n_clusters"] if clustered else row["n_samples"]) - 1
    if row["is_pass_fail"]:
        adjusted = degrees if clustered or row["has_shares"] else None
        cases = effective_size(row["mean"], se, row["n_samples"], row["n_trials"], adjusted)
        lower, upper = (clopper_pearson if exact else wilson)(row["mean"], cases)
    else:
        lower, upper = t_interval(row["mean"], se, degrees + 1)
    return MeanInterval(method, lower, upper)


def _method(row: JsonObject, *, exact: bool) -> Method:
    if not row["is_pass_fail"]:
        return "t_clustered" if row["has_clusters"] else "t"
    if row["has_clusters"]:
        return "clopper_pearson_clustered" if exact else "wilson_clustered"
    if row["has_shares"]:
        return "clopper_pearson_effective_n" if exact else "wilson_effective_n"
    return "clopper_pearson" if exact else "wilson"


def _why_none(row: JsonObject) -> str | None:
    if row["se"] is None:
        return reasons.no_second_sample(row)
    if row["n_samples"] < FEWEST_SAMPLES:
        return reasons.TOO_FEW if row["is_pass_fail"] else reasons.no_interval(row)
    if row["has_clusters"] and row["se_clustered"] is None:
        return reasons.no_clusters(row)
    longest = max(row["se"], row["se_clustered"] or 0)
    return None if longest or row["is_pass_fail"] else reasons.no_interval(row)
