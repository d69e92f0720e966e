"""How far two raters agree: coefficients of pairs and of ratings, their intervals, and correlations.

The coefficients are computed in SQL, in files of this folder: kappa.sql, alpha.sql, gwet.sql, pair_summary.sql. What
takes quantiles or chance stands here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atanh, isclose, sqrt, tanh
from typing import TYPE_CHECKING, Any

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.stats.intervals import FEWEST_SAMPLES, Interval
from keval.stats.proportions import Z

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

QUADRATIC = "1 - ((a - b) / span) ** 2"
"""Weight of two categories: the further apart, the less they agree."""

IDENTITY = "(a = b)::int"
"""Weight of two categories: the same one, or not."""

RESAMPLES = 2000
AT_ONCE = 4_000_000
"""Numbers in memory at once while resampling."""

FEWEST_PAIRS = 3
"""With fewer pairs there is no correlation: two points are always in line."""

FEW_PAIRS = 100
"""With fewer pairs the formula of kappa's variance is too far from the truth: samples are drawn again instead."""

FEWEST_DEFINED = 0.95
"""The share of resamples in which kappa has to be defined: fewer would describe only the lucky ones."""

Sums = Sequence[Sequence[float]]
"""Per sample: number of pairs, sums of a, b, a², b² and ab."""


def coefficients(connection: DuckDBPyConnection, pairs: str, ratings: str) -> dict[int, JsonObject]:
    """Return both kappas, the weighted one with its standard error, AC1, AC2 and three alphas.

    `pairs` is a query with series, a, b and span, `ratings` one with series, unit, rater, value, span. A span of null
    is that of a scale without categories: such series have alphas only.
    """
    found: dict[int, JsonObject] = {}

    def take(names: Mapping[str, str], query: str) -> None:
        for row in rows(connection, query):
            of_series = found.setdefault(row["series"], {})
            of_series.update((name, _whole(row[column])) for name, column in names.items())

    take({"kappa": "kappa"}, load("stats", "kappa", pairs=pairs, weight=IDENTITY))
    take({"qwk": "kappa", "qwk_se": "se"}, load("stats", "kappa", pairs=pairs, weight=QUADRATIC))
    take({"ac1": "coefficient"}, load("stats", "gwet", ratings=ratings, weight=IDENTITY))
    take({"ac2": "coefficient"}, load("stats", "gwet", ratings=ratings, weight=QUADRATIC))
    names = {f"alpha_{level}": level for level in ("nominal", "ordinal", "interval")}
    take(names, load("stats", "alpha", ratings=ratings))
    return found


def kappa_interval(kappa: float, se: float) -> tuple[float, float]:
    """Return the 95 % interval by the formula of kappa's variance, within -1 and 1, of pairs of different samples."""
    return max(-1.0, kappa - Z * se), min(1.0, kappa + Z * se)


def resampled_kappa_interval(sums: Sums, seed: int) -> Interval:
    """Return the 95 % percentile interval of the quadratic weighted kappa, when whole samples are drawn again.

    Two nulls for fewer than 5 samples, where kappa is not defined in too many of the draws, and where all draws are the
    same: raters who never differ do not show how far they could.
    """
    import numpy as np

    of_samples = np.asarray(sums, dtype=float)
    if len(of_samples) < FEWEST_SAMPLES:
        return None, None
    found = kappas(_resampled(of_samples, seed))
    defined = found[~np.isnan(found)]
    if len(defined) < FEWEST_DEFINED * RESAMPLES:
        return None, None
    low, high = map(float, np.quantile(defined, (0.025, 0.975)))
    return (None, None) if isclose(low, high) else (low, high)


def _resampled(of_samples: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the sums of each draw of as many samples as there are."""
    import numpy as np

    random, number = np.random.default_rng(seed), len(of_samples)
    size = max(1, AT_ONCE // number)
    parts = []
    for start in range(0, RESAMPLES, size):
        drawn = random.multinomial(number, np.full(number, 1 / number), size=min(size, RESAMPLES - start))
        parts.append(drawn @ of_samples)
    return np.concatenate(parts)


def kappas(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 - Σ(a - b)² / (ΣΣ n_a m_b (a - b)² / N) of each row of sums; NaN where no two values differ."""
    import numpy as np

    number, a, b, aa, bb, ab = sums.T
    by_chance = aa + bb - 2 * a * b / number
    defined = by_chance > 1e-9 * (aa + bb)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, 1 - (aa + bb - 2 * ab) / by_chance, np.nan)


def correlations(a: Sequence[float], b: Sequence[float]) -> dict[str, float | None]:
    """Return Pearson's, Spearman's and Kendall's (tau-b) correlation; None of few pairs, or if a side is constant."""
    names = ("pearson", "spearman", "kendall")
    if len(a) < FEWEST_PAIRS or isclose(min(a), max(a)) or isclose(min(b), max(b)):
        return dict.fromkeys(names)
    from scipy import stats

    found = (stats.pearsonr(a, b), stats.spearmanr(a, b), stats.kendalltau(a, b))
    return {name: float(each.statistic) for name, each in zip(names, found, strict=True)}


def rank_correlation_interval(correlation: float, number: int) -> Interval:
    """Return the 95 % interval of Spearman's correlation of so many independent cases (Bonett and Wright 2000).

    Two nulls for fewer than 5 cases, and for a correlation of 1 or -1, which the formula has no interval for.
    """
    if number < FEWEST_SAMPLES or isclose(abs(correlation), 1):
        return None, None
    reach = Z * sqrt((1 + correlation**2 / 2) / (number - 3))
    return tanh(atanh(correlation) - reach), tanh(atanh(correlation) + reach)


def _whole(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a coefficient that is 1 but for float noise as 1, and any other value as it is."""
    return 1.0 if isinstance(value, float) and isclose(value, 1.0, abs_tol=1e-12) else value
