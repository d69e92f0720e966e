"""The mean that people would give all answers, from the judge's scores of all and people's of a few drawn at random.

Prediction-powered inference with its tuning (PPI++: Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453): the people's
mean takes as much help from the judge as it deserves, none from one whose scores say nothing. One value per sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from statistics import covariance, fmean, variance
from typing import Literal

from keval.stats.clustered_se import clustered_se
from keval.stats.intervals import FEWEST_SAMPLES, Interval, t_interval

FEWEST_LABELLED = 20
"""With fewer labelled samples, how far judge and people go together is not known well enough to use it."""


Clusters = tuple[Sequence[str | None], Sequence[str | None]]
"""What the labelled samples, and all others, have in common with those that belong to them; None: nobody knows."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of people's scores, and how surely it is known."""

    mean: float
    se: float | None
    """None: one sample, or one cluster, says nothing of others."""
    judge_weight: float
    """λ, how much of the judge's scores is used: 1 all, 0 nothing, which leaves the people's own mean."""
    n_labelled: int
    n_clusters: int | None = None
    """To how many clusters the labelled samples belong; None where each stands for itself."""

    @property
    def interval(self) -> Interval:
        """The 95 % interval: mean ± t · SE, with one degree of freedom less than labelled samples, or clusters."""
        independent = self.n_labelled if self.n_clusters is None else self.n_clusters
        if self.se and self.n_labelled >= FEWEST_SAMPLES and independent > 1:
            return t_interval(self.mean, self.se, independent)
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


def corrected_mean(
    labelled: Sequence[tuple[float, float]], unlabelled: Sequence[float], clusters: Clusters | None = None
) -> CorrectedMean:
    """Return what is known of the mean of people's scores.

    `labelled` has people's score and the judge's of each sample that was drawn at random to be labelled, `unlabelled`
    the judge's of all others. `clusters` names the clusters of both, where samples belong together.
    """
    judged = [judge for _, judge in labelled] + list(unlabelled)
    people = _people_only([person for person, _ in labelled], clusters)
    reason = _why_not(labelled, unlabelled)
    corrected = None if reason else ppi(labelled, unlabelled, clusters=clusters)
    return CorrectedMean(fmean(judged) if judged else None, people, corrected, reason)


def ppi(
    labelled: Sequence[tuple[float, float]],
    unlabelled: Sequence[float],
    weight: float | None = None,
    clusters: Clusters | None = None,
) -> Estimate:
    """Return the estimate by PPI++, or with a weight of the judge that is given: 1 is PPI, 0 people's scores alone.

    λ = clip( Cov(Y, F) / ((1 + n/N) Var(F)), 0, 1), θ = λ mean(F_U) + mean(Y − λF),
    SE² = λ² Var(F_U) / N + Var(Y − λF) / n. Needs 2 samples of each kind. With clusters: see `_larger`.
    """
    people, judge = [y for y, _ in labelled], [f for _, f in labelled]
    known, unknown = len(labelled), len(unlabelled)
    if weight is None:
        spread = (1 + known / unknown) * variance([*judge, *unlabelled])
        weight = min(1.0, max(0.0, covariance(people, judge) / spread)) if spread else 0.0
    rest = [y - weight * f for y, f in labelled]
    se = sqrt(weight**2 * variance(unlabelled) / unknown + variance(rest) / known)
    mean = weight * fmean(unlabelled) + fmean(rest)
    if clusters is None:
        return Estimate(mean, se, weight, known)
    parts = [*_parts(rest), *(weight * part for part in _parts(unlabelled))]
    return Estimate(mean, _larger(se, zip(chain(*clusters), parts, strict=True)), weight, known, _number(clusters))


def _people_only(scores: Sequence[float], clusters: Clusters | None) -> Estimate | None:
    if not scores:
        return None
    se = sqrt(variance(scores) / len(scores)) if len(scores) > 1 else None
    if clusters is None:
        return Estimate(fmean(scores), se, 0.0, len(scores))
    clustered = _larger(se, zip(clusters[0], _parts(scores), strict=True))
    return Estimate(fmean(scores), clustered, 0.0, len(scores), _number(clusters))


def _number(clusters: Clusters) -> int:
    return len(set(clusters[0]))


def _parts(values: Sequence[float]) -> list[float]:
    """Return what each value adds to how far their mean lies from the truth."""
    mean = fmean(values)
    return [(value - mean) / len(values) for value in values]


def _larger(se: float | None, parts: Iterable[tuple[str | None, float]]) -> float | None:
    """Return the larger one of an error and that of clusters, None where one of them is not known."""
    of_clusters = clustered_se(parts)
    return None if se is None or of_clusters is None else max(se, of_clusters)


def _why_not(labelled: Sequence[object], unlabelled: Sequence[object]) -> str | None:
    if not labelled:
        return "no answer that was drawn at random has a score of a person"
    if len(labelled) < FEWEST_LABELLED:
        return f"{len(labelled)} labelled samples; the judge's scores are used from {FEWEST_LABELLED} on"
    if len(unlabelled) < 2:  # noqa: PLR2004 - two values are the fewest that can differ
        return f"of samples that are not labelled {len(unlabelled)} is left, and it takes 2"
    return None
