"""Says of each response what passed and what failed: by its judges, or from a score that the user names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from keval.metric_names import full_name
from keval.passing import SLACK
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.reports.thresholds import Scale, thresholds

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READ = ("conditions", "metrics", "response_facts", "score_facts", "thresholds")
"""The tables and views that are asked."""


def verdicts(connection: DuckDBPyConnection, pass_from: Mapping[str, float]) -> str:
    """Return the query for verdicts: one row per response that counts, judge and metric.

    `pass_from` has the lowest score that passes of metrics for which the user names one, each as METRIC, JUDGE/METRIC
    or JUDGE_ID/METRIC; it goes before what the judge says and what the log says of the metric. Raises UsageError for
    a name that says not which metric is meant, and for a score off its scale.
    """
    meant = thresholds(pass_from, _scales(connection)) if pass_from else {}
    given = ", ".join(f"({literal(name)}, {score!r}::double)" for name, score in meant.items())
    passed = load("projections", "passed", pass_slack=str(SLACK))
    return load("projections", "verdicts", given=given or "(null, null::double)", passed=passed)


def undecided(
    connection: DuckDBPyConnection,
    pass_from: Mapping[str, float],
    is_asked: Callable[[str, str, str], bool] = lambda _metric, _judge, _judge_id: True,
) -> list[str]:
    """Return the metrics, each after its judge, by which nothing passes or fails: nobody says from which score.

    `is_asked` says whether one is of those that are meant, by its name and its judge's name and id.
    """
    return [
        full_name(judge, metric)
        for metric, judge, judge_id in _scored(connection, pass_from, decides=False)
        if is_asked(metric, judge, judge_id)
    ]


def deciding(connection: DuckDBPyConnection, pass_from: Mapping[str, float]) -> list[str]:
    """Return the metrics, each after its judge, by which something passes or fails."""
    return [full_name(judge, metric) for metric, judge, _ in _scored(connection, pass_from, decides=True)]


def _scored(
    connection: DuckDBPyConnection, pass_from: Mapping[str, float], *, decides: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield metric, judge and its id, of those by which something passes or fails, or of the others."""
    query = load("reports", "deciding_metrics", verdicts=verdicts(connection, pass_from))
    for row in rows(connection, query):
        if row["decides"] == decides:
            yield row["metric"], row["judge"], row["judge_id"]


def _scales(connection: DuckDBPyConnection) -> Iterator[Scale]:
    """Yield the metrics of a log's judges; what is computed from them decides nothing."""
    return (Scale(**row) for row in rows(connection, load("reports", "scales")))
