"""Intervals by resampling: samples, or the clusters that they belong to, are drawn again and again with replacement.

Sources: Efron 1987 for the bias-corrected and accelerated interval of a mean; the components of the variance have the
percentile interval. The same seed draws the same samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from math import floor, log10
from typing import TYPE_CHECKING, cast

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.stats.intervals import Interval
from keval.stats.statistic import ScoreKey

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST = 20
"""With fewer samples or clusters the intervals are too short."""

MOST = 20_000
"""With more samples Student's t is as good, and resampling would take minutes."""

RESAMPLES = 9_999

DIGITS = 11
"""As many digits of a mean are no float noise: sums of floats depend on their order in the others."""

AT_ONCE = 10**7
"""Numbers that are in memory at once."""

NONE: Interval = (None, None)


def sample_values(connection: DuckDBPyConnection) -> Mapping[ScoreKey, Sequence[JsonObject]]:
    """Return the samples with a value of each condition, agent, judge and metric, by their ids."""

    def key(row: JsonObject) -> ScoreKey:
        return row["condition_id"], row["agent_id"], row["judge_id"], row["metric"]

    return {of: list(found) for of, found in groupby(rows(connection, load("projections", "sample_values")), key)}


def why_none(n: int, what: str = "samples") -> str | None:
    """Return why there is no interval by resampling so many, None if there is one."""
    if n < FEWEST:
        return f"fewer than {FEWEST} {what}: resampled intervals would be too short"
    return f"more than {MOST} {what}: not resampled" if n > MOST else None


def mean_interval(values: Sequence[float], clusters: Sequence[str] | None, seed: int) -> Interval:
    """Return the BCa interval of the mean of samples' values; of values that are all alike there is none.

    `clusters` names each sample's cluster; then these are resampled, and the mean is a ratio.
    """
    import numpy as np
    from scipy.stats import bootstrap

    if max(values) == min(values):
        return NONE
    if clusters is None:
        data: tuple[list[float], ...] = (list(values),)
    else:
        of: dict[str, list[float]] = {}
        for value, cluster in zip(values, clusters, strict=True):
            of.setdefault(cluster, []).append(value)
        data = [sum(each) for each in of.values()], [float(len(each)) for each in of.values()]
    # Means that are alike but for float noise are ties, by which the correction for bias goes.
    statistic = partial(_mean if clusters is None else _ratio, digits=DIGITS - 1 - floor(log10(max(map(abs, values)))))
    found = bootstrap(
        data, statistic, paired=clusters is not None, vectorized=True, method="BCa",
        n_resamples=RESAMPLES, batch=max(1, AT_ONCE // len(data[0])), random_state=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    lower, upper = float(found.low), float(found.high)
    return (lower, upper) if np.isfinite([lower, upper]).all() else NONE


def _mean(values: Floats, axis: int, digits: int) -> Floats:
    return cast("Floats", values.mean(axis).round(digits))


def _ratio(sums: Floats, counts: Floats, axis: int, digits: int) -> Floats:
    return cast("Floats", (sums.sum(axis) / counts.sum(axis)).round(digits))


def component_intervals(samples: Sequence[JsonObject], seed: int) -> tuple[Interval, Interval]:
    """Return the intervals of the variances between samples and between the responses to one sample.

    `samples` are rows of `sample_values`. The estimates may be negative; two nulls for a component that is not
    identified.
    """
    import numpy as np

    scored = [row for row in samples if row["weight"]]
    if len(scored) < FEWEST:
        return NONE, NONE
    middle = sum(row["weight"] * row["weighted_mean"] for row in scored) / sum(row["weight"] for row in scored)
    sums = np.array([list(_summed(row, middle)) for row in scored])
    random, found = np.random.default_rng(seed), []
    at_once = max(1, AT_ONCE // len(scored))
    for drawn in range(0, RESAMPLES, at_once):
        number = min(at_once, RESAMPLES - drawn)
        times = random.multinomial(len(scored), np.full(len(scored), 1 / len(scored)), size=number)
        found.append(_components(times @ sums, len(scored)))
    between, within = (np.concatenate(each) for each in zip(*found, strict=True))
    return _percentiles(between), _percentiles(within)


def _summed(row: JsonObject, middle: float) -> Iterator[float]:
    """Yield what is added up over samples for an analysis of variance; see variance_components.sql."""
    weight, mean = row["weight"], row["weighted_mean"] - middle
    yield from (weight, row["scored"], row["repeated"], row["weight_squares"] / weight, row["weight_squares"])
    yield from (weight**2, row["squares_judgments"], row["squares_responses"], weight * mean, weight * mean**2)


def _components(sums: Floats, n: int) -> tuple[Floats, Floats]:
    import numpy as np

    judgments, responses, repeated, t1, t2, t3, ss_e, ss_b, first, second = sums.T
    t2, t3 = t2 / judgments, t3 / judgments
    with np.errstate(divide="ignore", invalid="ignore"):
        ms_e = np.where(repeated > 0, ss_e / repeated, np.nan)
        ms_b = np.where(responses > n, ss_b / (responses - n), np.nan)
        ms_a = (second - first**2 / judgments) / (n - 1)
        k1, k2, k3 = (judgments - t1) / (responses - n), (t1 - t2) / (n - 1), (judgments - t3) / (n - 1)
        within = (ms_b - ms_e) / k1
        between = np.where(np.isnan(ms_e), (ms_a - ms_b) / k3, (ms_a - ms_e - k2 * within) / k3)
    return between, within


def _percentiles(found: Floats) -> Interval:
    import numpy as np

    if np.isnan(found).any():
        return NONE
    lower, upper = np.quantile(found, (0.025, 0.975))
    return float(lower), float(upper)
