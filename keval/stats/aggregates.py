"""Makes the bodies of `aggregate` and `comparison` events from the views over a log.

Whatever is not defined is null and has its reason in `reasons`; nothing stands in for it. Floats are
rounded to 12 significant digits: the last ones depend on the order in which threads add up.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from keval.ids import JsonObject
from keval.stats.intervals import FEWEST_SAMPLES, LEVEL, t_interval

if TYPE_CHECKING:
    import duckdb

SIGNIFICANT_DIGITS = 12

ROWS_AT_ONCE = 1000

_SCORE = """
    condition, condition_id, agent_id, judge, judge_id, metric, sample_id, min, max, current, mock,
    planned, scored, agent_failed, not_measured, not_done, failed, n_samples, n_responses, n_judgments,
    mean, mean_completed, mean_lower, mean_upper, var_between_samples, sd_between_samples,
    var_over_repetitions, sd_over_repetitions, se
"""

_CONDITIONS = f"""
    select condition_place, metric_place, 0 as part, 'condition' as level, {_SCORE}
    from (select null as sample_id, * from condition_scores)
    order by condition_place, metric_place
"""

_SAMPLES = f"""
    select condition_place, metric_place, 1 as part, 'sample' as level, {_SCORE}
    from (
        select *, (mean is not null)::int as n_samples,
            null as var_between_samples, null as sd_between_samples, null as se
        from sample_scores
    )
    order by condition_place, metric_place, sample_id
"""

_COMPARISONS = """
    select
        baseline, condition, baseline_id, condition_id, agent_id, judge, judge_id, metric, current, mock,
        n_paired, n_dropped, difference, sd_difference, se, wins, ties, losses
    from comparisons
    order by condition_place, metric_place
"""

_NOTHING = "no judgments"
_NO_PLAN = "no run event says what was planned"
_ONE_SAMPLE = "one sample"
_NO_SPREAD = "no sample differs"


def aggregate(connection: duckdb.DuckDBPyConnection, *, levels: Collection[str]) -> Iterator[JsonObject]:
    """Yield the bodies of all `aggregate` events of the levels, then of all `comparison` events.

    `levels` holds "condition", "sample" or both; comparisons are of level "condition". The order is that of the
    config's conditions, then judges, their metrics, samples; a condition comes before its samples.
    """
    queries = {"condition": _CONDITIONS, "sample": _SAMPLES}
    streams = [_rows(connection, query) for level, query in queries.items() if level in levels]
    for row in heapq.merge(*streams, key=lambda row: (row["condition_place"], row["metric_place"], row["part"])):
        yield _aggregate_body({name: value for name, value in row.items() if name not in _ORDER})
    if "condition" in levels:
        for row in _rows(connection, _COMPARISONS):
            yield _comparison_body(row)


_ORDER = ("condition_place", "metric_place", "part")


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[JsonObject]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        names = [column[0] for column in cursor.description]
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            for row in rows:
                yield dict(zip(names, row, strict=True))


def _aggregate_body(score: JsonObject) -> JsonObject:
    return _body("aggregate", score, score["mean"], score["n_samples"], _missing_score, _missing_score_interval)


def _comparison_body(compared: JsonObject) -> JsonObject:
    missing = _missing_difference
    return _body("comparison", compared, compared["difference"], compared["n_paired"], missing, missing_interval)


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    if not isinstance(value, float):
        return value
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0  # no negative zero
