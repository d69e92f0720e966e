"""Composes a report from the views over a log and from aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.projections import rows, rows_by_condition
from keval.projections.tool_use import ToolUse, tool_use
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

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = list[JsonObject]

TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def compose(
    connection: DuckDBPyConnection, paths: Sequence[Path], aggregates: Iterable[JsonObject] | None = None
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
    used = tool_use(connection, paths)
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


def saved_aggregates(paths: Sequence[Path]) -> Rows | None:
    """Return the `aggregate` and `comparison` events of logs that hold nothing from which to compute them.

    None where there are none, and for logs with responses, judgments or failures: what is computed
    from these is newer.
    """
    found: dict[str, JsonObject] = {}
    for path in paths:
        with path.open("rb") as log:
            for line in log:
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
    return {str(row["judge_id"]) for row in rows(connection, _PROGRAMS)}


_PROGRAMS = """
    select judge_id
    from (
        select judge_id, judge.model as model from judgment_facts
        union all select judge.judge_id, judge.model from (select unnest(judges) as judge from runs)
    )
    group by judge_id having count(model) = 0
"""


def _header(connection: DuckDBPyConnection, judge_ids: Sequence[str]) -> Header:
    (counts,) = rows(connection, _COUNTS)
    (newest,) = rows(connection, _NEWEST_RUN)
    agent, dataset = newest["agent"], newest["dataset"]
    return Header(
        name=newest["name"],
        version=newest["version"],
        agent=AgentInfo(agent["name"], agent["type"], agent["model"]) if agent else None,
        models=tuple(row["model"] for row in rows(connection, _MODELS)),
        judges=tuple(
            JudgeInfo(**row) for row in in_order(rows(connection, _JUDGES), judge_ids, lambda row: str(row["judge_id"]))
        ),
        dataset=DatasetInfo(dataset["path"], dataset["samples"], dataset["sha256"]) if dataset else None,
        seed=newest["seed"],
        **counts,
    )


_COUNTS = """
    with event as (
        select 'run' as type, time from runs
        union all select 'response', time from response_facts
        union all select 'judgment', time from judgment_facts
        union all select 'failure', time from failure_facts
    )
    select
        min(time) as first_time, max(time) as last_time,
        count(*) filter (type = 'run') as runs, count(*) filter (type = 'response') as responses,
        count(*) filter (type = 'judgment') as judgments, count(*) filter (type = 'failure') as failures
    from event
"""

# What `judge` or `aggregate` appended says nothing of the agent: each part is that of the newest run that has it.
_NEWEST_RUN = """
    select
        arg_max(config ->> '$.name', position) filter (config ->> '$.name' is not null) as name,
        arg_max(config ->> '$.version', position) filter (config ->> '$.name' is not null) as version,
        arg_max(agent, position) filter (agent is not null) as agent,
        arg_max(dataset, position) filter (dataset is not null) as dataset,
        arg_max(seed, position) filter (seed is not null) as seed
    from runs
"""

_MODELS = """
    select distinct unnest(r.models) as model
    from response_facts as r
    semi join missing as m on m.condition_id = r.condition_id and m.agent_id = r.agent_id and m.current
    where r.current
    order by model
"""

_JUDGES = """
    select judge.name as name, judge.type as type, judge.model as model, judge_id
    from (
        select judge_id, arg_max(judge, position) as judge
        from judgment_facts where current group by judge_id
    )
    order by name, judge_id
"""


def _order(connection: DuckDBPyConnection) -> tuple[list[str], list[str]]:
    """Return names of conditions and ids of judges: of the newest run in the config's order, then of older ones."""
    runs = list(rows(connection, _CONFIGURED))
    names = dict.fromkeys(name for row in runs for name in row["names"] or ())
    judge_ids = dict.fromkeys(judge_id for row in runs for judge_id in row["judge_ids"] or ())
    return list(names), list(judge_ids)


_CONFIGURED = """
    select map_keys(conditions) as names, [judge.judge_id for judge in judges] as judge_ids
    from runs order by position desc
"""


def _conditions(
    connection: DuckDBPyConnection, order: Sequence[str], used: Mapping[tuple[str, str], ToolUse]
) -> tuple[ConditionSummary, ...]:
    planned = rows(connection, "select * from missing where current order by condition, condition_id, agent_id")
    answers = rows_by_condition(connection, _ANSWERS)
    costs = rows_by_condition(connection, _COSTS)
    servers = rows_by_condition(connection, _SERVERS)
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
    spent = {cost["stage"]: Total(_rounded(cost["cost_usd"]), cost["known"], cost["unknown"]) for cost in costs}
    return ConditionSummary(
        name=row["condition"],
        condition_id=row["condition_id"],
        agent_id=row["agent_id"],
        planned=row["planned"],
        completed=row["completed"],
        failed=dict(sorted(row["failed_by_kind"].items())),
        not_done=row["not_done"],
        mean_duration_ms=_rounded(answered.get("mean_duration_ms")),
        median_duration_ms=_rounded(answered.get("median_duration_ms")),
        agent_cost_usd=spent.get("generate", Total(None, 0, 0)),
        agent_cost_per_answer_usd=_rounded(answered.get("mean_cost_usd")),
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


def _rounded(value: float | None) -> float | None:
    """Return a number to 12 digits: the last bits of a sum depend on the order of its parts."""
    return None if value is None else float(f"{value:.12g}")


_ANSWERS = """
    select
        condition_id, agent_id, count(*) as n,
        favg(duration_ms) as mean_duration_ms, median(duration_ms) as median_duration_ms,
        favg(cost_usd) as mean_cost_usd,
        sum(usage.input_tokens)::bigint as input_tokens, count(usage.input_tokens) as input_tokens_known,
        sum(usage.output_tokens)::bigint as output_tokens, count(usage.output_tokens) as output_tokens_known,
        sum(usage.cache_read_input_tokens)::bigint as cache_read_input_tokens,
        count(usage.cache_read_input_tokens) as cache_read_input_tokens_known,
        sum(usage.cache_creation_input_tokens)::bigint as cache_creation_input_tokens,
        count(usage.cache_creation_input_tokens) as cache_creation_input_tokens_known
    from response_facts
    where current group by condition_id, agent_id
"""

_COSTS = """
    select
        condition_id, agent_id, stage, fsum(cost_usd) as cost_usd,
        sum(n + failed_attempts - unknown)::bigint as known, sum(unknown)::bigint as unknown
    from costs where current group by condition_id, agent_id, stage
"""

_SERVERS = """
    select
        condition_id, agent_id, server, count(*) as responses, count(*) filter (use.called > 0) as responses_using,
        sum(use.called)::bigint as called, sum(use.failed)::bigint as failed
    from (
        select condition_id, agent_id, unnest(map_keys(mcp)) as server, unnest(map_values(mcp)) as use
        from response_facts where current
    )
    group by condition_id, agent_id, server
    order by server
"""


def _is_mock(
    connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary], bodies: Iterable[JsonObject]
) -> bool:
    by_condition = rows_by_condition(connection, _MOCK)
    of_events = [row["mock"] for found in conditions for row in by_condition.get(found.key, [])]
    of_bodies = [body["mock"] for body in bodies if body["current"]]
    if of_events or of_bodies:
        return any(of_events) or any(of_bodies)
    return any(row["mock"] for row in rows(connection, "select mock from runs order by position desc limit 1"))


_MOCK = """
    select condition_id, agent_id, bool_or(mock) as mock
    from (
        select condition_id, agent_id, mock from response_facts where current
        union all select condition_id, agent_id, mock from judgment_facts where current
        union all select condition_id, agent_id, mock from failure_facts where current
    )
    group by condition_id, agent_id
"""


def _claims(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> tuple[ConditionClaims, ...]:
    """Return the claims of all conditions, or nothing where no judge found any: many judges look for none."""
    claims = rows_by_condition(connection, _CLAIMS)
    judged = rows_by_condition(connection, _JUDGED)
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


_CLAIMS = """
    select condition_id, agent_id, claim, count(distinct response_id) as answers
    from (
        select condition_id, agent_id, response_id, trim(unnest(unverified_claims)) as claim
        from judgment_facts where current
    )
    where claim <> ''
    group by condition_id, agent_id, claim
    order by answers desc, claim
"""

_JUDGED = """
    select
        condition_id, agent_id, count(distinct response_id) as judged,
        count(distinct response_id) filter (len(unverified_claims) > 0) as claiming
    from judgment_facts where current group by condition_id, agent_id
"""


def _failures(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> tuple[FailureGroup, ...]:
    by_condition = rows_by_condition(connection, _FAILURES)
    return tuple(
        FailureGroup(found.name, row["stage"], row["kind"], row["count"], row["example"])
        for found in conditions
        for row in by_condition.get(found.key, [])
    )


_FAILURES = """
    select condition_id, agent_id, stage, kind, count(*) as count, arg_min(message, {time: time, id: id}) as example
    from failure_facts where current
    group by condition_id, agent_id, stage, kind
    order by stage, count desc, kind
"""


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
