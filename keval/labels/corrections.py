"""Says what people would give a condition's answers: the mean of the judge's scores, corrected by people's of a few.

Only scores of answers that were drawn at random are used: those of a person's own choice say nothing of all answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.reports import people_scores
from keval.stats.aggregates import rounded
from keval.stats.ppi import Clusters, CorrectedMean, Estimate, corrected_mean

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

REQUIREMENT = (
    "the labelled answers must be a random draw from the condition's answers, as `keval label --scores` makes it; "
    "answers that the agent failed to give are in none of these means"
)


@dataclass(frozen=True, slots=True)
class MeanCorrection:
    """The mean of one condition by one judge and metric, corrected by people's scores."""

    condition: str
    judge: str
    judge_id: str
    metric: str
    samples: int
    judge_mean: float
    """The judge's own, over all samples with an answer that was judged."""
    found: CorrectedMean
    min: float
    max: float
    """The ends of the metric's scale."""

    def as_json(self) -> JsonObject:
        """Return it as one JSON object; what is not known is null, with a reason."""
        return {
            **{name: getattr(self, name) for name in ("condition", "judge", "judge_id", "metric", "samples")},
            "judge_mean": rounded(self.judge_mean),
            "method": self.found.method,
            "people": _as_json(self.found.people),
            "corrected": _as_json(self.found.corrected),
            "reason": self.found.why_not_corrected,
            "requirement": REQUIREMENT,
        }


def mean_corrections(connection: DuckDBPyConnection) -> Iterator[MeanCorrection]:
    """Yield the corrected mean of each condition, judge and metric that people scored answers of at random."""
    people_scores.make_table(connection)
    found = rows(connection, load("labels", "scored_samples"))
    for _, of_metric in groupby(found, key=lambda row: (row["condition_place"], row["place"])):
        samples = list(of_metric)
        labelled = [(row["people"], row["judge_of_labelled"]) for row in samples if row["people"] is not None]
        rest = [row["judge_of_all"] for row in samples if row["people"] is None]
        if labelled:
            judge_mean = sum(row["judge_of_all"] for row in samples) / len(samples)
            who = {name: samples[0][name] for name in ("condition", "judge", "judge_id", "metric", "min", "max")}
            corrected = corrected_mean(labelled, rest, _clusters(samples) if samples[0]["has_clusters"] else None)
            yield MeanCorrection(**who, samples=len(samples), judge_mean=judge_mean, found=corrected)


def _clusters(samples: Sequence[JsonObject]) -> Clusters:
    """Return the clusters of the samples that people scored, and of the others."""
    is_rest = [row["people"] is None for row in samples]
    return (
        [row["cluster"] for row, rest in zip(samples, is_rest, strict=True) if not rest],
        [row["cluster"] for row, rest in zip(samples, is_rest, strict=True) if rest],
    )


def _as_json(estimate: Estimate | None) -> JsonObject | None:
    if estimate is None:
        return None
    low, high = estimate.interval
    return {
        "mean": rounded(estimate.mean),
        "se": rounded(estimate.se),
        "ci_lower": rounded(low),
        "ci_upper": rounded(high),
        "n_labelled": estimate.n_labelled,
        "judge_weight": rounded(estimate.judge_weight),
    }
