"""Compares the conditions of a log with those of the same name in an earlier log: what `before` means to a gate.

The rules are those of `keval compare`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from keval.compare.edited_records import leave_out_edited_records, records_of
from keval.compare.pair_baselines import leave_out_other_baselines, pair_baselines
from keval.compare.side_by_side import (
    leave_out_edited,
    of_shared_samples,
    pair_samples,
    put_side_by_side,
    renamed,
    score_bodies,
)
from keval.projections.copies import copies
from keval.projections.sql_file import load
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable, difference
from keval.stats.aggregates import comparison_bodies
from keval.stats.declared import declared
from keval.stats.stopped_run import descriptive, has_stopped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

EARLIER, NOW = "the earlier log", "this log"

COPIED = (
    "conditions",
    "metrics",
    "sample_means",
    "newest_samples",
    "plans",
    "planned_questions",
    "condition_means",
)
"""The tables of each log that are put side by side as they are."""


class Since(NamedTuple):
    """How a condition differs from the one of its name in an earlier log, and what became of the samples of both."""

    difference: Difference
    now: ConditionScore | None
    before: ConditionScore | None


def differences_since(
    connections: Sequence[DuckDBPyConnection],
    tables: Sequence[Sequence[MetricTable]],
    conditions: Sequence[str],
) -> dict[tuple[str, str, str], Since]:
    """Return, by condition, judge and metric, the difference between a log and an earlier one.

    `connections` and `tables`, the metrics with their scores, are those of the earlier log and of the later one. What
    the later one declares counts. Samples are paired by their id; one that is another question now, or of
    which a judge is given something else, has no partner. The connections have texts.
    """
    queries = {name: f"from {name}" for name in COPIED}
    queries["facts"] = load("compare", "since_questions")
    queries["judgment_facts"] = load("compare", "since_judges")
    told_apart = [
        replace(table, scores=tuple(renamed(score, number, label) for score in table.scores))
        for number, (label, those) in enumerate(zip((EARLIER, NOW), tables, strict=True), start=1)
        for table in those
    ]
    stopped = any(map(has_stopped, connections))
    with copies(connections, queries) as together:
        put_side_by_side(together, (EARLIER, NOW), [(1, name, 2, name) for name in conditions])
        leave_out_edited(together, 1, 2)
        leave_out_other_baselines(together, *map(pair_baselines, connections))
        leave_out_edited_records(
            together, 1, 2, lambda number, names: records_of(connections[number - 1], "samples", names)
        )
        pair_samples(together)
        shared = of_shared_samples(together, told_apart)
        scores = {
            (score.condition_id, table.judge_id, table.metric): score for table in shared for score in table.scores
        }
        return {
            (body["condition"].removesuffix(f" in {NOW}"), *metric): Since(
                difference(descriptive(body) if stopped else body, None, None),
                scores.get((body["condition_id"], *metric)),
                scores.get((body["baseline_id"], *metric)),
            )
            for body in comparison_bodies(together, list(score_bodies(shared)), declared(connections[-1]))
            for metric in [(body["judge_id"], body["metric"])]
        }
