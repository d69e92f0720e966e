"""Composes a report from the views over a log and from aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.projections.log_file import LogFile, as_log_file
from keval.reports import warnings
from keval.reports.conclusions import MetricTable, in_order, metric_tables, reversals, small_numbers
from keval.reports.model import (
    BANNER,
    AgentInfo,
    Claim,
    ConditionClaims,
    ConditionSummary,
    DatasetInfo,
    FailureGroup,
    Header,
    JudgeInfo,
    Report,
    ServerUse,
    Total,
)
from keval.reports.queries import ask, by_condition
from keval.reports.tool_use import ToolUse, tool_use
from keval.stats.aggregates import rounded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = list[JsonObject]

TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def compose(
    connection: DuckDBPyConnection, logs: Sequence[LogFile | Path], aggregates: Iterable[JsonObject] | None = None
) -> Report:
    """Return the report of logs that a connection of `keval.projections.connect` has views of.

    `aggregates` are the bodies of `aggregate` and `comparison` events; None computes them.
    """
    order, judge_ids = _order(connection)
    header = _header(connection, judge_ids)
    measured = bool(header.responses or header.judgments or header.failures)
    bodies = list(aggregates or ())
    if aggregates is None and measured:
        from keval.stats.aggregates import aggregate

        bodies = list(aggregate(connection, levels={"condition"}))
    tables = metric_tables(bodies, order, judge_ids)
    # Plans alone are no measurement: beside saved aggregates they would look like an unfinished run.
    used = tool_use(connection, logs)
    conditions = _conditions(connection, order, used) if measured or not tables else ()
    mock = _is_mock(connection, conditions, bodies)
    return Report(
        mock=mock,
        banner=BANNER if mock else None,
        warnings_first=(*reversals(tables), *warnings.incomplete(conditions)),
        header=header,
        conditions=conditions,
        metrics=tables,
        claims=_claims(connection, conditions),
        failures=_failures(connection, conditions),
        warnings=(
            *small_numbers(tables, _programs(connection)),
            *warnings.others(connection, header, conditions, bodies, used),
        ),
        notes=tuple(_notes(header, tables, measured=measured)),
    )


def saved_aggregates(logs: Sequence[LogFile | Path]) -> Rows | None:
    """Return the `aggregate` and `comparison` events of logs that hold nothing from which to compute them.

    None where there are none, and for logs with responses, judgments or failures: what is computed
    from these is newer.
    """
    found: dict[str, JsonObject] = {}
    for line in chain.from_iterable(as_log_file(log).read() for log in logs):
        event = orjson.loads(line)
        if event["type"] in {"response", "judgment", "failure"}:
            return None
        if event["type"] in {"aggregate", "comparison"}:
            found.pop(event["id"], None)  # what counts is the last one, in its place
            found[event["id"]] = event
        if event["type"] == "retraction":
            found.pop(event["target"], None)
    return list(found.values()) or None


def _programs(connection: DuckDBPyConnection) -> set[str]:
    """Return the ids of the judges that ask no model."""
    return {str(row["judge_id"]) for row in ask(connection, "programs")}


def _header(connection: DuckDBPyConnection, judge_ids: Sequence[str]) -> Header:
    (counts,) = ask(connection, "event_counts")
    (newest,) = ask(connection, "newest_run")
    agent, dataset = newest["agent"], newest["dataset"]
    return Header(
        name=newest["name"],
        version=newest["version"],
        agent=AgentInfo(agent["name"], agent["type"], agent["model"]) if agent else None,
        models=tuple(row["model"] for row in ask(connection, "models")),
        judges=tuple(
            JudgeInfo(**row) for row in in_order(ask(connection, "judges"), judge_ids, lambda row: str(row["judge_id"]))
        ),
        dataset=DatasetInfo(dataset["path"], dataset["samples"], dataset["sha256"]) if dataset else None,
        seed=newest["seed"],
        **counts,
    )


def _order(connection: DuckDBPyConnection) -> tuple[list[str], list[str]]:
    """Return names of conditions and ids of judges: of the newest run in the config's order, then of older ones."""
    runs = list(ask(connection, "configured"))
    names = dict.fromkeys(name for row in runs for name in row["names"] or ())
    judge_ids = dict.fromkeys(judge_id for row in runs for judge_id in row["judge_ids"] or ())
    return list(names), list(judge_ids)


def _conditions(
    connection: DuckDBPyConnection, order: Sequence[str], used: Mapping[tuple[str, str], ToolUse]
) -> tuple[ConditionSummary, ...]:
    planned = ask(connection, "shown_conditions")
    answers = by_condition(connection, "answers")
    costs = by_condition(connection, "spent")
    servers = by_condition(connection, "server_use")
    summaries = []
    for row in in_order(planned, order, lambda row: str(row["condition"])):
        key = (row["condition_id"], row["agent_id"])
        summaries.append(
            _summary(row, answers.get(key), costs.get(key, []), used.get(key, ToolUse()), servers.get(key, []))
        )
    return tuple(summaries)


def _summary(
    row: dict[str, Any],
    answers: Rows | None,
    costs: Rows,
    used: ToolUse,
    servers: Rows,
) -> ConditionSummary:
    (answered,) = answers or [{}]
    n = answered.get("n", 0)
    spent = {cost["stage"]: Total(rounded(cost["cost_usd"]), cost["known"], cost["unknown"]) for cost in costs}
    return ConditionSummary(
        name=row["condition"],
        condition_id=row["condition_id"],
        agent_id=row["agent_id"],
        planned=row["planned"],
        completed=row["completed"],
        failed=dict(sorted(row["failed_by_kind"].items())),
        not_done=row["not_done"],
        mean_duration_ms=rounded(answered.get("mean_duration_ms")),
        median_duration_ms=rounded(answered.get("median_duration_ms")),
        agent_cost_usd=spent.get("generate", Total(None, 0, 0)),
        agent_cost_per_answer_usd=rounded(answered.get("mean_cost_usd")),
        judge_cost_usd=spent.get("judge", Total(None, 0, 0)),
        tokens={kind: _tokens(answered.get(kind), answered.get(f"{kind}_known", 0), n) for kind in TOKENS},
        tool_calls=used.calls,
        tool_calls_failed=used.failed,
        servers=tuple(
            ServerUse(use["server"], use["responses"], use["responses_using"], use["called"], use["failed"])
            for use in servers
        ),
        answers_searched=used.searched,
        answers_with_leakage=used.found,
    )


def _tokens(total: int | None, known: int, of: int) -> Total:
    return Total(total, known, of - known)


def _is_mock(
    connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary], bodies: Iterable[JsonObject]
) -> bool:
    mocked = by_condition(connection, "mocked")
    of_events = [row["mock"] for found in conditions for row in mocked.get(found.key, [])]
    of_bodies = [body["mock"] for body in bodies if body["current"]]
    if of_events or of_bodies:
        return any(of_events) or any(of_bodies)
    return any(row["mock"] for row in ask(connection, "newest_run"))


def _claims(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> tuple[ConditionClaims, ...]:
    """Return the claims of all conditions, or nothing where no judge found any: many judges look for none."""
    claims = by_condition(connection, "claims")
    judged = by_condition(connection, "answers_judged")
    if not any(found.key in claims for found in conditions):
        return ()
    return tuple(
        ConditionClaims(
            condition=found.name,
            answers_judged=row["judged"],
            answers_with_claims=row["claiming"],
            claims=tuple(Claim(claim["claim"], claim["answers"]) for claim in claims.get(found.key, [])),
        )
        for found in conditions
        for row in judged.get(found.key, [])
    )


def _failures(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> tuple[FailureGroup, ...]:
    groups = by_condition(connection, "failure_groups")
    return tuple(
        FailureGroup(found.name, row["stage"], row["kind"], row["count"], row["example"])
        for found in conditions
        for row in groups.get(found.key, [])
    )


def _notes(header: Header, tables: Sequence[MetricTable], *, measured: bool) -> Iterator[str]:
    if tables:
        yield "A mean is the mean of the samples' means: each sample weighs the same, however often it was answered."
        yield (
            "A failure of the agent counts as the scale's minimum in the mean; what was not measured is left out. "
            "Worst and best case put the scale's ends in its place."
        )
        yield (
            "Intervals are Student's t over samples. Differences are paired by sample; whether two conditions "
            "differ is read from their difference, never from two intervals."
        )
    if not measured and tables:
        yield (
            "The log holds aggregates only: costs, durations, tool calls, unverified claims and messages of failures "
            "are not in the input."
        )
    elif not measured:
        yield "The log holds no response: there is nothing to report." if header.runs else _EMPTY


_EMPTY = "The log is empty: there is nothing to report."
