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
from keval.stats.intervals import FEWEST_SAMPLES, LEVEL, t_interval

if TYPE_CHECKING:
    import duckdb

SIGNIFICANT_DIGITS = 12

_WHO = ("condition", "condition_id", "agent_id", "judge", "judge_id", "metric")
_STATES = ("planned", "scored", "agent_failed", "not_measured", "not_done", "failed")
_SIZES = ("n_samples", "n_responses", "n_judgments")
_MEANS = ("mean", "mean_complete_case", "mean_lower", "mean_upper")
_SPREADS = ("var_between_samples", "sd_between_samples", "var_within_sample", "sd_within_sample", "se")
_AGGREGATE = ("level", *_WHO, "sample_id", "min", "max", "current", "mock", *_STATES, *_SIZES, *_MEANS, *_SPREADS)

_PAIRED = ("n_paired", "n_dropped", "difference", "sd_difference", "se", "wins", "ties", "losses")
_COMPARISON = ("baseline", "baseline_id", *_WHO, "current", "mock", *_PAIRED)

_TOO_FEW = f"fewer than {FEWEST_SAMPLES} samples: no interval is shown"


def aggregate(connection: duckdb.DuckDBPyConnection, *, levels: Collection[str]) -> Iterator[JsonObject]:
    """Yield the bodies of all `aggregate` events of the levels, then of all `comparison` events.

    `levels` holds "condition", "sample" or both; comparisons are of conditions. The order is that of the config's
    conditions, then of judges, their metrics and samples; a condition comes before its samples.
    """
    views = {"condition": "condition_aggregates", "sample": "sample_aggregates"}
    streams = [rows_of(connection, view) for level, view in views.items() if level in levels]
    for row in heapq.merge(*streams, key=lambda row: (row["condition_place"], row["metric_place"], row["level"])):
        yield _body("aggregate", _AGGREGATE, row, _interval(row["mean"], row["se"], row["n_samples"]), _unscored(row))
    if "condition" in levels:
        for row in rows_of(connection, "comparisons"):
            interval = _interval(row["difference"], row["se"], row["n_paired"])
            yield _body("comparison", _COMPARISON, row, interval, _uncompared(row))


def _interval(mean: float | None, se: float | None, n: int) -> JsonObject:
    bounds: tuple[float | None, float | None] = (None, None)
    if mean is not None and se and n >= FEWEST_SAMPLES:
        bounds = t_interval(mean, se, n)
    return {"ci_lower": bounds[0], "ci_upper": bounds[1], "ci_level": LEVEL, "ci_method": "t"}


def _unscored(row: JsonObject) -> dict[str, str]:
    """Return what to say of each number of an `aggregate` event that is null."""
    n, no_plan, unjudged = row["n_samples"], "no run event says what was planned", "no judgments"
    spread = "one sample" if n else unjudged
    repetitions = "one repetition" if n else unjudged
    return {
        "planned": no_plan,
        "not_done": no_plan,
        **dict.fromkeys(("mean", "mean_complete_case"), unjudged),
        **dict.fromkeys(("mean_lower", "mean_upper"), "nothing was planned or tried"),
        **dict.fromkeys(("var_between_samples", "sd_between_samples", "se"), spread),
        **dict.fromkeys(("var_within_sample", "sd_within_sample"), repetitions),
        **_no_interval(row["se"], spread, "all samples have the same mean"),
    }


def _uncompared(row: JsonObject) -> dict[str, str]:
    """Return what to say of each number of a `comparison` event that is null."""
    unpaired = "one paired sample" if row["n_paired"] else "no sample has a value under both conditions"
    constant = "every sample differs by the same amount" if row["difference"] else "no sample differs"
    return {
        **dict.fromkeys(("difference", "sd_difference", "se"), unpaired),
        **_no_interval(row["se"], unpaired, constant),
    }


def _no_interval(se: float | None, undefined: str, constant: str) -> dict[str, str]:
    """Return why there is no interval; values that do not differ do not say how far they could."""
    why = undefined if se is None else _TOO_FEW if se else constant
    return {"ci_lower": why, "ci_upper": why}


def _body(
    event_type: str, names: tuple[str, ...], row: JsonObject, interval: JsonObject, reasons: Mapping[str, str]
) -> JsonObject:
    values = {name: row[name] for name in names} | interval
    # The ends of a scale are no results: rounded, two of them that lie close together would become one.
    body = {name: value if name in {"min", "max"} else _rounded(value) for name, value in values.items()}
    return {
        "type": event_type,
        **body,
        "reasons": {name: reason for name, reason in reasons.items() if body[name] is None},
    }


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    if not isinstance(value, float):
        return value
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0  # no negative zero
