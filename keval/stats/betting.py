"""Bounds for the mean of bounded differences that hold at every number of samples, however often one looks: by betting.

Twenty players begin with the same stake and bet on each sample that the mean is above a candidate; each risks another
fraction of what is safe. If the mean is not above it, their money together grows to c times the stake with a
probability of 1 / c at most, at any time (Ville 1939), whatever the distribution within its ends. A candidate below the
mean is excluded as soon as they have that much. Bets: Waudby-Smith and Ramdas (arXiv 2010.09686), also without
replacement; mixtures of constant bets: Cover's universal portfolio. What they have in the end does not depend on the
samples' order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PLAYERS = 20
"""The fraction that player k risks is (k − ½) / 20."""

CLOSE = 1e-10
"""A bound is found up to this share of the reach."""

NOISE = 1e-9
"""What a sum of differences may be off by, as a share of the reach."""


class Growth:
    """The most money that the players ever had, against several candidates, brought up to date with each sample.

    It is what `Bets.most` returns of all samples so far, without going through the earlier ones again.
    """

    def __init__(self, bets: Bets, candidates: Sequence[float]) -> None:
        """Begin without a sample; candidates as `Bets.excludes` takes them."""
        import numpy as np

        self._bets = bets
        asked = np.asarray(candidates, dtype=float)
        self._candidates: Floats = np.maximum(asked, bets.least) + bets.reach
        self._logs = np.zeros((len(candidates), PLAYERS))
        self._there = np.zeros(len(candidates))
        """What the samples add up to, from the lowest possible difference on."""
        self._samples = 0
        self.most = np.where(asked < -bets.reach, np.inf, 0.0)
        """By candidate, as logarithms of multiples of the stake; infinity for an impossible one."""

    def add(self, differences: Sequence[float]) -> None:
        """Let the players bet on one more sample: its difference as it counts against each of the candidates."""
        import numpy as np

        above = np.asarray(differences, dtype=float) + self._bets.reach
        ratio = above / self._fair(above) - 1
        self._logs += np.log1p(np.multiply.outer(ratio, (np.arange(PLAYERS) + 0.5) / PLAYERS))
        self._there += above
        self._samples += 1
        top = self._logs.max(1)
        money = top + np.log(np.exp(self._logs - top[:, None]).mean(1))
        if self._bets.total is not None:
            whole = self._bets.total * self._candidates
            money = np.where(whole < self._there - NOISE * self._bets.reach, np.inf, money)
        self.most = np.maximum(self.most, money)

    def _fair(self, above: Floats) -> Floats:
        """As `Bets.log_capital` has it."""
        import numpy as np

        if self._bets.total is None:
            return self._candidates
        left = self._bets.total * self._candidates - self._there
        return cast(
            "Floats", np.where(left > 0, left / (self._bets.total - self._samples), np.maximum(above, self._bets.reach))
        )


@dataclass(frozen=True, slots=True)
class Bets:
    """On what is bet: each difference lies within ±reach."""

    reach: float
    """R, the length of the scale; more than 0."""
    total: int | None = None
    """N, of a dataset that is drawn from without replacement, of which the mean is asked for; None: no end."""

    def log_capital(self, differences: Sequence[float] | Floats, candidate: float) -> Floats:
        """Return the logarithm of the players' money after each sample, as a multiple of their stake.

        The samples are the last axis of `differences`. The candidate is above −reach.
        """
        import numpy as np

        above = np.asarray(differences, dtype=float) + self.reach
        fractions = (np.arange(PLAYERS) + 0.5) / PLAYERS
        logs = np.log1p(np.multiply.outer(fractions, above / self._fair(above, candidate) - 1)).cumsum(-1)
        top = logs.max(0)
        return cast("Floats", top + np.log(np.exp(logs - top).mean(0)))

    def _fair(self, above: Floats, candidate: float) -> Floats | float:
        """Return what makes a bet on each sample fair if the candidate is the mean: the mean of all that is left."""
        import numpy as np

        if self.total is None:
            return candidate + self.reach
        places = np.arange(above.shape[-1])
        left = self.total * (candidate + self.reach) - (above.cumsum(-1) - above)
        # Where nothing can be left the candidate is excluded by arithmetic, and there is nothing to bet on.
        return cast("Floats", np.where(left > 0, left / (self.total - places), np.maximum(above, self.reach)))

    def is_impossible(self, differences: Sequence[float] | Floats, candidate: float) -> bool:
        """Return whether the samples that are there add up to more than all would if the candidate were the mean."""
        if self.total is None:
            return False
        there = sum(map(float, differences)) + len(differences) * self.reach
        return self.total * (candidate + self.reach) < there - NOISE * self.reach

    def most(self, differences: Sequence[float] | Floats, candidate: float) -> float:
        """Return the logarithm of the most money that the players ever had; infinity for an impossible candidate."""
        if not len(differences):
            return 0.0
        if self.is_impossible(differences, candidate):
            return float("inf")
        return max(0.0, float(self.log_capital(differences, candidate).max()))

    def excludes(self, differences: Sequence[float] | Floats, candidate: float, tail: float) -> bool:
        """Return whether the mean is above a candidate; said falsely with a probability of `tail` at most."""
        return candidate < -self.reach or self.most(differences, max(candidate, self.least)) >= -log(tail)

    def lower(self, differences: Sequence[float] | Floats, tail: float) -> float:
        """Return what the mean is above; wrong, at any number of samples, with a probability of `tail` at most."""
        low, high = self.least, self.reach
        if not self.excludes(differences, low, tail):
            return -self.reach
        while high - low > CLOSE * self.reach:
            middle = (low + high) / 2
            low, high = (middle, high) if self.excludes(differences, middle, tail) else (low, middle)
        return low

    @property
    def least(self) -> float:
        """The least candidate on which bets can be made."""
        return self.reach * (1e-6 - 1)
