"""Confidence intervals for means over samples."""

from __future__ import annotations

LEVEL = 0.95
"""The confidence level of every interval."""

METHOD = "t"
"""How every interval is computed, as events name it."""

FEWEST_SAMPLES = 5
"""With fewer samples no interval is given: it would rest on assumptions more than on data."""


def interval(mean: float | None, se: float | None, n: int) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of a mean of n samples, or two nulls where too little is known to give one."""
    return t_interval(mean, se, n) if mean is not None and se and n >= FEWEST_SAMPLES else (None, None)


def t_interval(mean: float, se: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the two-sided t interval of a mean of n independent values: mean ± t_(n-1) · se.

    It may reach beyond the scale of the values. Raises ValueError for n < 2 or an se that is not positive:
    one value says nothing of others, and values that do not differ say nothing of how far they could.
    """
    if n < 2 or se <= 0:  # noqa: PLR2004 - two values are the fewest that can differ
        raise ValueError(f"no interval from n = {n}, se = {se}")
    from scipy.special import stdtrit  # scipy.stats would give the same and take three times as long to import

    reach = float(stdtrit(n - 1, (1 + level) / 2)) * se
    return mean - reach, mean + reach
