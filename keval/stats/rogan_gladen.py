"""The share of answers that really pass, from a judge's pass rate and its error rates, known from elsewhere.

Rogan and Gladen 1978, with the interval of Lee et al. 2025 (arXiv 2511.21140). It assumes that the judge is wrong as
often here as where its error rates come from; labels of these very answers need no such assumption.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from keval.stats.intervals import Interval
from keval.stats.proportions import Z

BEYOND = "the pass rate lies beyond what a judge of these error rates comes to: it is wrong in another way here"
FEW_LABELS = (
    "the error rates rest on too few labels: with one more of each kind the judge would be no better than chance"
)
CHANCE = "the judge is no better than chance: its error rates add up to 1 or more"


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """How often a judge is right of answers of which people know whether they pass."""

    specificity: float
    """q0: of the answers that fail, the share that the judge fails."""
    sensitivity: float
    """q1: of the answers that pass, the share that the judge passes."""
    failing: int
    """m0: answers that fail, by people."""
    passing: int
    """m1: answers that pass, by people."""

    @property
    def tells_apart(self) -> bool:
        """Whether the judge says anything at all: it passes good answers more often than bad ones."""
        return self.specificity + self.sensitivity > 1

    def _adjusted(self) -> ErrorRates:
        """Return the rates with one case more of each kind, as Agresti and Coull do."""
        failing, passing = self.failing + 2, self.passing + 2
        return ErrorRates(
            (self.failing * self.specificity + 1) / failing,
            (self.passing * self.sensitivity + 1) / passing,
            failing,
            passing,
        )

    def share(self, pass_rate: float) -> float:
        """Return the share that really passes, which may lie beyond 0 and 1."""
        return (pass_rate + self.specificity - 1) / (self.specificity + self.sensitivity - 1)

    def interval(self, pass_rate: float, number: float) -> Interval:
        """Return Lee's 95 % interval of the share, for a pass rate of so many independent answers."""
        rates, squared = self._adjusted(), Z**2
        if not rates.tells_apart or number <= 0:
            return None, None
        answers = number + squared
        rate = (number * pass_rate + squared / 2) / answers
        share = rates.share(rate)
        of_failing = rates.specificity * (1 - rates.specificity) / rates.failing
        of_passing = rates.sensitivity * (1 - rates.sensitivity) / rates.passing
        shift = 2 * squared * (share * of_passing - (1 - share) * of_failing)
        error = sqrt(rate * (1 - rate) / answers + (1 - share) ** 2 * of_failing + share**2 * of_passing)
        reach = Z * error / (rates.specificity + rates.sensitivity - 1)
        return _clipped(share + shift - reach), _clipped(share + shift + reach)


def really_passing(
    pass_rate: float, number: float, rates: ErrorRates
) -> tuple[float | None, float | None, float | None]:
    """Return the share of answers that really pass, and its interval; nulls for a judge no better than chance."""
    if not rates.tells_apart:
        return None, None, None
    return _clipped(rates.share(pass_rate)), *rates.interval(pass_rate, number)


def _clipped(share: float) -> float:
    return min(1.0, max(0.0, share))
