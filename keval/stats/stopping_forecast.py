"""What the stopping rule will take, said before anything is asked: at least, and by runs drawn from a pilot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, cast

from keval.stats.betting import PLAYERS, Bets
from keval.stats.stopping_rule import Compared, StoppingRule
from keval.stats.student import two_sided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_SAMPLES = 100_000
"""Nobody waits for a decision that takes more."""

RUNS = 400
"""Runs that are drawn: a share of them is known to ±5 %, a mean number of samples better."""

NUMBERS_AT_ONCE = 2 * 10**6


def least_samples(difference: float, candidate: float, reach: float, rule: StoppingRule) -> int | None:
    """Return after how many samples of this very difference a smaller candidate is excluded; None if never.

    No data decide sooner that the mean is above 0 (`candidate` 0 and the largest difference), or within a margin
    (`difference` 0 and the margin below it).
    """
    import numpy as np

    number = 64
    while number <= MOST_SAMPLES:
        path = Bets(reach).log_capital(np.full(number, difference), candidate)
        reached = np.flatnonzero(path >= -log(rule.early_tail))
        if len(reached):
            return int(reached[0]) + 1
        number *= 4
    return None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What runs would come to that stop when they are decided."""

    samples: float
    """Finished samples on average."""
    stopped: float
    """The share of the runs that stop before the dataset's end."""
    found: float
    """The share that conclude what is true, at the latest with the complete dataset.

    That is the difference's direction; without a difference, that it is within the margin.
    """


def forecast(pilot: Sequence[float], difference: float, rule: StoppingRule, compared: Compared) -> Forecast | None:
    """Return what runs would come to whose samples differ as those of a pilot, with another mean.

    Differences are drawn from the pilot's own, those in the direction of the mean more often (exponential tilting), so
    that none leaves the scale. None if the pilot has none that large.
    """
    import numpy as np

    weights = _tilted(np.asarray(pilot, dtype=float), difference)
    if weights is None:
        return None
    random = np.random.default_rng(0)
    at_once = max(1, NUMBERS_AT_ONCE // (PLAYERS * compared.planned))
    parts = []
    for first in range(0, RUNS, at_once):
        drawn = random.choice(np.asarray(pilot, dtype=float), (min(at_once, RUNS - first), compared.planned), p=weights)
        parts.append(stops(drawn, rule, compared))
    samples, directions = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Forecast(
        samples=float(samples.mean()),
        stopped=float((samples < compared.planned).mean()),
        found=float((directions == np.sign(difference)).mean()),
    )


def stops(drawn: Floats, rule: StoppingRule, compared: Compared) -> tuple[Floats, Floats]:
    """Return after how many samples each run stops, and what it finds.

    1 is higher, −1 lower, 0 no difference within the margin, NaN nothing. Each row is a run. At the dataset's end
    Student's interval counts, too; the sign-flip test, which would make some of these borderline, is left out.
    """
    import numpy as np

    bets, least, planned = Bets(compared.reach), min(rule.min_samples, compared.planned), compared.planned
    end = _ordinary_lower(drawn, rule), _ordinary_lower(-drawn, rule)

    def first(differences: Floats, candidate: float, complete: Floats) -> Floats:
        paths = np.maximum.accumulate(bets.log_capital(differences, candidate), axis=-1) >= -log(rule.early_tail)
        at_end = np.where(complete > candidate, planned, planned + 1)
        return cast("Floats", np.maximum(np.where(paths.any(-1), paths.argmax(-1) + 1, at_end), least))

    up, down = first(drawn, 0, end[0]), first(-drawn, 0, end[1])
    found = np.where(up < down, 1.0, np.where(down < up, -1.0, np.nan))
    samples = np.minimum(up, down)
    if compared.margin is not None:
        within = np.maximum(first(drawn, -compared.margin, end[0]), first(-drawn, -compared.margin, end[1]))
        found = np.where((within < samples) & (within <= planned), 0.0, found)
        samples = np.minimum(samples, within)
    return np.minimum(samples, planned).astype(float), found


def _ordinary_lower(drawn: Floats, rule: StoppingRule) -> Floats:
    """Return the lower end of Student's interval of each complete run; −inf where it has none."""
    import numpy as np

    n, level = drawn.shape[-1], rule.complete_level
    if level is None or n < 2:  # noqa: PLR2004 - fewer do not differ
        return np.full(len(drawn), -np.inf)
    mean, se = drawn.mean(-1), drawn.std(-1, ddof=1) / sqrt(n)
    return cast("Floats", np.where(se > 0, mean - two_sided(level, n - 1) * se, -np.inf))


def _tilted(pilot: Floats, mean: float) -> Floats | None:
    """Return with which probability each value is drawn so that the mean is another one: in proportion to exp(λ d)."""
    import numpy as np

    if not len(pilot) or not pilot.min() < mean < pilot.max():
        return None
    scale = float(np.abs(pilot).max())
    low, high = -700.0, 700.0
    weights = np.full(len(pilot), 1 / len(pilot))
    for _ in range(100):
        middle = (low + high) / 2
        powers = middle * pilot / scale
        weights = np.exp(powers - powers.max())
        weights /= weights.sum()
        low, high = (middle, high) if weights @ pilot < mean else (low, middle)
    return weights
