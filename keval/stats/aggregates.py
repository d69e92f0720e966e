"""Makes the bodies of `aggregate` and `comparison` events from the views over a log.

Whatever is not defined is null and has its reason in `reasons`; nothing stands in for it. Floats are
rounded to 12 significant digits: beyond, they depend on the order in which threads add up.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from keval.ids import JsonObject
from keval.projections import rows_of
from keval.stats.intervals import LEVEL, METHOD
from keval.stats.statistics import AGGREGATE, PAIRED, Statistic

if TYPE_CHECKING:
    import duckdb

SIGNIFICANT_DIGITS = 12

_WHO = ("condition", "condition_id", "agent_id", "judge", "judge_id", "metric")
_OF_AGGREGATE = ("level", *_WHO, "sample_id", "min", "max", "current", "mock")
_OF_COMPARISON = ("baseline", "baseline_id", *_WHO, "current", "mock")


def aggregate(connection: duckdb.DuckDBPyConnection, *, levels: Collection[str]) -> Iterator[JsonObject]:
    """Yield the bodies of all `aggregate` events of the levels, then of all `comparison` events.

    `levels` holds "condition", "sample" or both; comparisons are of conditions. The order is that of the config's
    conditions, then of judges, their metrics and samples; a condition comes before its samples.
    """
    views = {"condition": "condition_aggregates", "sample": "sample_aggregates"}
    streams = [rows_of(connection, view) for level, view in views.items() if level in levels]
    for row in heapq.merge(*streams, key=lambda row: (row["condition_place"], row["metric_place"], row["level"])):
        yield _body("aggregate", _OF_AGGREGATE, AGGREGATE, row)
    if "condition" in levels:
        for row in rows_of(connection, "comparisons"):
            yield _body("comparison", _OF_COMPARISON, PAIRED, row)


def _body(event_type: str, names: tuple[str, ...], statistics: Mapping[str, Statistic], row: JsonObject) -> JsonObject:
    values = {name: rounded(statistic.value(row)) for name, statistic in statistics.items()}
    reasons = {
        name: statistic.why_null(row)
        for name, statistic in statistics.items()
        if values[name] is None and statistic.why_null is not None
    }
    # The ends of a scale are no results: rounded, two of them that lie close together would become one.
    coordinates = {name: row[name] for name in names}
    return {
        "type": event_type, **coordinates, **values, "ci_level": LEVEL, "ci_method": METHOD, "reasons": reasons,
    }  # fmt: skip


def rounded(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a float with 12 significant digits, and any other value as it is: the last bits of a sum are chance."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0  # no negative zero
