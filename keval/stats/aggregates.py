"""Makes the bodies of `aggregate` and `comparison` events from the views over a log.

Whatever is not defined is null and has its reason in `reasons`; nothing stands in for it. Floats are
rounded to 12 significant digits: beyond, they depend on the order in which threads add up.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from keval.ids import JsonObject
from keval.projections import rows, rows_of
from keval.projections.line_text import events_of
from keval.projections.sql_file import load
from keval.stats.asked import NOTHING, Asked
from keval.stats.comparisons import with_tests
from keval.stats.conclusions import concluded
from keval.stats.condition_row import Completion, completion
from keval.stats.declared import Declared, declared
from keval.stats.friedman import friedman
from keval.stats.groups import group_comparison_rows, group_rows
from keval.stats.intervals import LEVEL
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE, Statistic
from keval.stats.stopped_run import StoppedRun, stopped_run

if TYPE_CHECKING:
    import duckdb

    from keval.projections.log_file import LogFile

READ = (
    "comparisons",
    "computed_scores",
    "condition_aggregates",
    "conditions",
    "facts",
    "newest_config",
    "newest_samples",
    "pass_counts",
    "sample_means",
)
"""The tables and views that are asked for numbers of conditions; those of samples and groups need others as well."""

SIGNIFICANT_DIGITS = 12

_WHO = ("condition", "condition_id", "agent_id", "judge", "judge_id", "metric")
_OF_AGGREGATE = ("level", *_WHO, "sample_id", "by", "min", "max", "computed", "current", "mock")
_OPTIONAL = {"computed", "by"}
_OF_COMPARISON = ("baseline", "baseline_id", *_WHO, "by", "computed", "current", "mock")


def aggregate(
    connection: duckdb.DuckDBPyConnection, *, levels: Collection[str], asked: Asked = NOTHING
) -> Iterator[JsonObject]:
    """Yield the bodies of all `aggregate` events of the levels, then of all `comparison` events.

    `levels` holds "condition", "sample" or both; comparisons are of conditions. Groups, if `asked` for, come after
    both, before comparisons; the comparisons of groups are last. The order is that of the config's conditions, then of
    judges, their metrics and samples; a condition comes before its samples.
    """
    views = {"condition": "condition_aggregates", "sample": "sample_aggregates"}
    streams = [rows_of(connection, view) for level, view in views.items() if level in levels]
    completed = completion(connection, asked)
    stopped = stopped_run(connection)
    scores: list[JsonObject] = []
    for row in heapq.merge(*streams, key=lambda row: (row["condition_place"], row["metric_place"], row["level"])):
        body = _aggregate(row if row["level"] == "sample" else completed.of(row), asked)
        if body["level"] == "condition":
            scores.append(body)
            body = body if stopped is None else stopped.described(body)
        yield body
    groups = (
        [_aggregate(Completion(NOTHING).of(row), NOTHING) for row in group_rows(connection, asked.by)]
        if asked.by
        else []
    )
    yield from groups if stopped is None else map(stopped.described, groups)
    if "condition" in levels:
        of_all = declared(connection)
        for body in comparison_bodies(connection, scores, of_all, stopped, with_friedman=asked.friedman):
            yield body if stopped is None else _rounded(stopped.concluded(body))
    if groups:
        tested = with_tests(group_comparison_rows(connection, asked.by), declared(connection), groups=True)
        explored = _concluded(tested, groups)
        yield from explored if stopped is None else map(stopped.explored, explored)


def _rounded(body: JsonObject) -> JsonObject:
    return {name: rounded(value) for name, value in body.items()}


def comparison_bodies(
    connection: duckdb.DuckDBPyConnection,
    scores: Sequence[JsonObject],
    declared: Declared,
    stopped: StoppedRun | None = None,
    *,
    with_friedman: bool = False,
) -> Iterator[JsonObject]:
    """Yield the bodies of all `comparison` events of the view `comparisons`.

    `scores` are the bodies of the conditions' `aggregate` events, which tell how much was not measured. Of a run that
    `stopped` when decided they are of the samples that decide.
    """
    found = rows_of(connection, "comparisons")
    tested = with_tests(found if stopped is None else map(stopped.of_finished, found), declared)
    if with_friedman:
        of_all = friedman(connection)
        for row in tested:
            row["friedman"] = of_all[row["agent_id"], row["judge_id"], row["metric"]]
    yield from _concluded(tested, scores)


def _concluded(tested: Sequence[JsonObject], scores: Sequence[JsonObject]) -> Iterator[JsonObject]:
    by_key = {_key(body, "condition_id"): body for body in scores}
    for row in tested:
        method = "t" if row["n_clusters"] is None else "t_clustered"
        statistics = {name: each for name, each in PAIRED.items() if not each.asked_by or row.get(each.asked_by)}
        baseline, condition = (by_key.get(_key(row, name)) for name in ("baseline_id", "condition_id"))
        body = _body("comparison", _OF_COMPARISON, statistics, row, {"ci_method": method})
        reasons = body.pop("reasons")
        yield body | concluded(body | {"reasons": reasons}, baseline, condition)


def _key(body: JsonObject, condition: str) -> tuple[str, ...]:
    return body[condition], body["agent_id"], body["judge_id"], body["metric"], *body.get("by", {}).values()


def saved(connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile]) -> Iterator[JsonObject]:
    """Yield the `aggregate` and `comparison` events that logs hold, the last one of each id."""
    with events_of(logs) as event_at:
        for row in rows(connection, load("projections", "saved_numbers")):
            yield event_at(row["file"], row["line_offset"])


def _aggregate(row: JsonObject, asked: Asked) -> JsonObject:
    statistics = {name: each for name, each in AGGREGATE.items() if asked.has(each.asked_by)}
    if "interval" not in row:
        return _body("aggregate", _OF_AGGREGATE, statistics, row)
    chosen = {"ci_method": row["interval"].method, "failures": row["failures"]}
    drawn = {"seed": row["seed"]} if "seed" in row else {}
    return _body("aggregate", _OF_AGGREGATE, statistics, row, chosen | drawn)


def _body(
    event_type: str,
    names: tuple[str, ...],
    statistics: Mapping[str, Statistic],
    row: JsonObject,
    chosen: Mapping[str, Any] = MappingProxyType({"ci_method": "t"}),
) -> JsonObject:
    values = {
        name: rounded(statistic.value(row))
        for name, statistic in statistics.items()
        if row["computed"] == "combined" or not statistic.of_combined
    }
    reasons = {
        name: statistic.why_null(row)
        for name, statistic in statistics.items()
        if name in values and values[name] is None and statistic.why_null is not None
    }
    # The ends of a scale are no results: rounded, two of them that lie close together would become one.
    coordinates = {name: row[name] for name in names if name not in _OPTIONAL or row.get(name) is not None}
    return {
        "type": event_type, **coordinates, **values, "ci_level": LEVEL, **chosen, "reasons": reasons,
    }  # fmt: skip


def rounded(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Return a float with 12 significant digits, and any other value as it is: the last bits of a sum are chance."""
    if isinstance(value, list):
        return [{name: rounded(each) for name, each in item.items()} for item in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0  # no negative zero
