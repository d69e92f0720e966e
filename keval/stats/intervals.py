"""Student's t intervals for means over samples; which interval a condition's mean has, `mean_intervals` says."""

from __future__ import annotations

from keval.stats.student import two_sided

Interval = tuple[float, float] | tuple[None, None]
"""Both ends, or two nulls where too little is known to give them."""

LEVEL = 0.95
"""The confidence level of every interval, of means and shares too."""

FEWEST_SAMPLES = 5
"""With fewer samples no interval is given: it would rest on assumptions more than on data."""


def interval(mean: float | None, se: float | None, n: int, degrees: int | None = None) -> Interval:
    """Return the interval of a mean of n samples, or two nulls where too little is known to give one.

    It has n - 1 degrees of freedom unless `degrees` says otherwise.
    """
    if mean is None or not se or n < FEWEST_SAMPLES:
        return None, None
    return t_interval(mean, se, n if degrees is None else degrees + 1)


def t_interval(mean: float, se: float, n: int) -> tuple[float, float]:
    """Return the two-sided 95 % t interval of a mean of n independent values: mean ± t_(n-1) · se.

    It may reach beyond the scale of the values. Raises ValueError for n < 2 or an se that is not positive:
    one value says nothing of others, and values that do not differ say nothing of how far they could.
    """
    if n < 2 or se <= 0:  # noqa: PLR2004 - two values are the fewest that can differ
        raise ValueError(f"no interval from n = {n}, se = {se}")
    reach = two_sided(LEVEL, n - 1) * se
    return mean - reach, mean + reach
