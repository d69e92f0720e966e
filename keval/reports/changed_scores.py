"""Finds the samples that are worth reading first: those that lost most and gained most against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keval.reports.metric_tables import in_order
from keval.reports.queries import Queries
from keval.stats.aggregates import rounded

MOST = 5
"""Samples that are named of each condition, in both directions."""


@dataclass(frozen=True, slots=True)
class ChangedScore:
    """One sample's means under both conditions, of the metric on which it changed most."""

    sample_id: str
    judge: str
    judge_id: str
    metric: str
    baseline_mean: float
    mean: float
    difference: float


@dataclass(frozen=True, slots=True)
class ChangedScores:
    """The samples of one condition that changed most, the largest change first."""

    condition: str
    baseline: str
    lost: tuple[ChangedScore, ...]
    gained: tuple[ChangedScore, ...]


def changed_scores(queries: Queries, order: Sequence[str] = (), most: int = MOST) -> tuple[ChangedScores, ...]:
    """Return the samples that changed most of each condition that is compared; none of one in which no sample did."""
    lost: dict[tuple[str, str], list[ChangedScore]] = {}
    gained: dict[tuple[str, str], list[ChangedScore]] = {}
    for row in queries.ask("changed_scores", most=str(most)):
        pair = row["condition"], row["baseline"]
        found = {name: rounded(row[name]) for name in ChangedScore.__slots__}
        for direction in (lost, gained):
            direction.setdefault(pair, [])
        (lost if row["is_loss"] else gained)[pair].append(ChangedScore(**found))
    pairs = in_order(lost, order, lambda pair: pair[0])
    return tuple(ChangedScores(*pair, tuple(lost[pair]), tuple(gained[pair])) for pair in pairs)
