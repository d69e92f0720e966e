"""The mean that people would give all answers, from the judge's scores of all and people's of a few drawn at random.

Prediction-powered inference with its tuning (PPI++: Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453): the people's
mean takes as much help from the judge as it deserves, none from one whose scores say nothing. One value per sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import covariance, fmean, variance
from typing import Literal

from keval.stats.intervals import FEWEST_SAMPLES, Interval, t_interval

FEWEST_LABELLED = 20
"""With fewer labelled samples, how far judge and people go together is not known well enough to use it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of people's scores, and how surely it is known."""

    mean: float
    se: float | None
    """None: one sample says nothing of others."""
    judge_weight: float
    """λ, how much of the judge's scores is used: 1 all, 0 nothing, which leaves the people's own mean."""
    n_labelled: int

    @property
    def interval(self) -> Interval:
        """The 95 % interval: mean ± t · SE, with one degree of freedom less than labelled samples."""
        if self.se and self.n_labelled >= FEWEST_SAMPLES:
            return t_interval(self.mean, self.se, self.n_labelled)
        return None, None


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """What there is to say of a condition's mean: the judge's alone, people's alone, and both together."""

    judge_mean: float | None
    people: Estimate | None
    """Of the labelled samples alone."""
    corrected: Estimate | None
    """Of both; None where too little is labelled, for the reason in `why_not_corrected`."""
    why_not_corrected: str | None

    @property
    def method(self) -> Literal["PPI++", "people only"] | None:
        """What `best` is."""
        if self.corrected is not None:
            return "PPI++"
        return None if self.people is None else "people only"

    @property
    def best(self) -> Estimate | None:
        """The estimate to use."""
        return self.corrected or self.people


def corrected_mean(labelled: Sequence[tuple[float, float]], unlabelled: Sequence[float]) -> CorrectedMean:
    """Return what is known of the mean of people's scores.

    `labelled` has people's score and the judge's of each sample that was drawn at random to be labelled, `unlabelled`
    the judge's of all others.
    """
    judged = [judge for _, judge in labelled] + list(unlabelled)
    people = _people_only([person for person, _ in labelled])
    reason = _why_not(labelled, unlabelled)
    corrected = None if reason else ppi(labelled, unlabelled)
    return CorrectedMean(fmean(judged) if judged else None, people, corrected, reason)


def ppi(labelled: Sequence[tuple[float, float]], unlabelled: Sequence[float], weight: float | None = None) -> Estimate:
    """Return the estimate by PPI++, or with a weight of the judge that is given: 1 is PPI, 0 people's scores alone.

    λ = clip( Cov(Y, F) / ((1 + n/N) Var(F)), 0, 1), θ = λ mean(F_U) + mean(Y − λF),
    SE² = λ² Var(F_U) / N + Var(Y − λF) / n. Needs 2 samples of each kind.
    """
    people, judge = [y for y, _ in labelled], [f for _, f in labelled]
    known, unknown = len(labelled), len(unlabelled)
    if weight is None:
        spread = (1 + known / unknown) * variance([*judge, *unlabelled])
        weight = min(1.0, max(0.0, covariance(people, judge) / spread)) if spread else 0.0
    rest = [y - weight * f for y, f in labelled]
    se = sqrt(weight**2 * variance(unlabelled) / unknown + variance(rest) / known)
    return Estimate(weight * fmean(unlabelled) + fmean(rest), se, weight, known)


def _people_only(scores: Sequence[float]) -> Estimate | None:
    if not scores:
        return None
    se = sqrt(variance(scores) / len(scores)) if len(scores) > 1 else None
    return Estimate(fmean(scores), se, 0.0, len(scores))


def _why_not(labelled: Sequence[object], unlabelled: Sequence[object]) -> str | None:
    if not labelled:
        return "no answer that was drawn at random has a score of a person"
    if len(labelled) < FEWEST_LABELLED:
        return f"{len(labelled)} labelled samples; the judge's scores are used from {FEWEST_LABELLED} on"
    if len(unlabelled) < 2:  # noqa: PLR2004 - two values are the fewest that can differ
        return "nothing is left that is not labelled"
    return None
