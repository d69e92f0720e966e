"""Compares the conditions of a log with those of the same name in an earlier log, as `keval compare` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keval.projections.copies import copies
from keval.projections.sql_file import load
from keval.reports.conclusions import Difference, MetricTable, difference
from keval.reports.side_by_side import put_side_by_side, renamed, score_bodies
from keval.stats.aggregates import comparison_bodies
from keval.stats.declared import declared

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

EARLIER, NOW = "the earlier log", "this log"


def differences_since(
    connections: Sequence[DuckDBPyConnection],
    tables: Sequence[Sequence[MetricTable]],
    conditions: Sequence[str],
) -> dict[tuple[str, str, str], Difference]:
    """Return, by condition, judge and metric, the difference between a log and an earlier one.

    `connections` and `tables`, the metrics with their scores, are those of the earlier log and of the later one. What
    the later one declares counts. Samples are paired by their id; one that is another question now has no partner.
    """
    queries = {name: f"from {name}" for name in ("conditions", "metrics", "sample_means", "newest_samples")}
    queries["response_facts"] = load("reports", "since_questions")
    bodies = [
        body
        for number, (label, those) in enumerate(zip((EARLIER, NOW), tables, strict=True), start=1)
        for table in those
        for body in score_bodies(table, [renamed(score, number, label) for score in table.scores])
    ]
    with copies(connections, queries) as together:
        put_side_by_side(together, (EARLIER, NOW), [(1, name, 2, name) for name in conditions])
        together.execute(
            load("reports", "since_edited", questions=load("reports", "across_questions", one="1", other="2"))
        )
        return {
            (body["condition"].removesuffix(f" in {NOW}"), body["judge_id"], body["metric"]): difference(
                body, None, None
            )
            for body in comparison_bodies(together, bodies, declared(connections[-1]))
        }
