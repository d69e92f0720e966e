"""Holds the content of a report, and builds it from the views over a log and from aggregates.

A report is content without form: plain immutable dataclasses that every export reads. Unknown is
None, never 0, and a reason stands beside it. All text may come from an agent, a judge or a server:
whoever renders it must not let it act (escape codes, markup, formulas).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.readings import Caution, MetricTable, in_order, metric_tables, reversals, small_numbers

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BANNER = "MOCK: the model was a stand-in; these numbers say nothing about a real model."

Rows = list[dict[str, Any]]
"""Rows of a view, columns by name."""

Key = tuple[str, str]
"""A condition's id and its agent's id: answers of equal keys may be pooled."""

TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """The agent as the newest run configured it."""

    name: str
    type: str
    model: str | None


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """A judge whose scores are in the report."""

    name: str
    type: str
    model: str | None
    judge_id: str


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """The dataset of the newest run."""

    path: str
    samples: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Header:
    """Where the numbers come from."""

    name: str | None
    version: str | None
    agent: AgentInfo | None
    models: tuple[str, ...]
    """The models that really answered, as the service names them."""
    judges: tuple[JudgeInfo, ...]
    dataset: DatasetInfo | None
    first_time: str | None
    last_time: str | None
    """Time of the first and the last event, RFC 3339, UTC."""
    seed: int | None
    runs: int
    responses: int
    judgments: int
    failures: int
    """Events of each type in the log, older condition versions included."""


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over the items for which the number is known."""

    value: float | None
    """None when it is known for no item."""
    known: int
    unknown: int


@dataclass(frozen=True, slots=True)
class ServerUse:
    """What became of one MCP server over all responses of a condition."""

    server: str
    responses: int
    """Responses in which the server was there."""
    responses_using: int
    """Of these, responses with at least one call of it."""
    called: int
    failed: int


@dataclass(frozen=True, slots=True)
class ConditionSummary:
    """What one condition did and cost; answers, durations, tokens and calls are those of its responses."""

    name: str
    condition_id: str
    agent_id: str
    planned: int | None
    """Samples x repetitions; None when no run event says so."""
    completed: int
    failed: Mapping[str, int]
    """Tasks whose last attempt failed, by kind of failure."""
    not_done: int | None
    mean_duration_ms: float | None
    median_duration_ms: float | None
    agent_cost_usd: Total
    """All attempts of the agent, failed ones too."""
    agent_cost_per_answer_usd: float | None
    """The mean over responses of known cost."""
    judge_cost_usd: Total
    tokens: Mapping[str, Total]
    """Input, output, cache read and cache creation tokens of the responses."""
    tool_calls: int
    tool_calls_failed: int
    servers: tuple[ServerUse, ...]
    answers_searched: int
    """Answers whose golden answer is long enough to be looked for in what the tools returned."""
    answers_with_canary: int
    """Of these, answers of which a tool returned the golden answer word for word."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An unverified claim and the number of answers in which a judge found it."""

    text: str
    answers: int


@dataclass(frozen=True, slots=True)
class ConditionClaims:
    """All unverified claims of one condition, most frequent first."""

    condition: str
    answers_judged: int
    answers_with_claims: int
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one kind in one condition, with one message as an example."""

    condition: str
    stage: str
    kind: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a report says, in the order in which it is to be read."""

    mock: bool
    banner: str | None
    """Stands on top of every format when a mock answered or judged."""
    cautions_first: tuple[Caution, ...]
    """What must be read before any number."""
    header: Header
    conditions: tuple[ConditionSummary, ...]
    metrics: tuple[MetricTable, ...]
    claims: tuple[ConditionClaims, ...]
    failures: tuple[FailureGroup, ...]
    cautions: tuple[Caution, ...]
    notes: tuple[str, ...]
    """How the numbers are made, and what the input does not hold."""


def build(connection: DuckDBPyConnection, aggregates: Iterable[JsonObject] | None = None) -> Report:
    """Return the report of the log that a connection of `keval.projections.connect` has views of.

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
    conditions = _conditions(connection, order) if measured or not tables else ()
    mock = _is_mock(connection, conditions, bodies)
    return Report(
        mock=mock,
        banner=BANNER if mock else None,
        cautions_first=(*reversals(tables), *_incomplete(conditions)),
        header=header,
        conditions=conditions,
        metrics=tables,
        claims=_claims(connection, conditions),
        failures=_failures(connection, conditions),
        cautions=(*small_numbers(tables), *_other_cautions(connection, header, conditions, bodies)),
        notes=tuple(_notes(header, tables, measured=measured)),
    )


def saved_aggregates(paths: Sequence[Path]) -> list[JsonObject] | None:
    """Return the `aggregate` and `comparison` events of logs that hold nothing from which to compute them.

    None where there are none, and for logs with responses, judgments or failures: what is computed
    from these is newer.
    """
    found = []
    for path in paths:
        with path.open("rb") as log:
            for line in log:
                event = orjson.loads(line) if line.strip() else {}
                if event.get("type") in {"response", "judgment", "failure"}:
                    return None
                if event.get("type") in {"aggregate", "comparison"}:
                    found.append(event)
    return found or None


def _rows(connection: DuckDBPyConnection, sql: str) -> Rows:
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _by_condition(rows: Rows) -> dict[Key, Rows]:
    found: dict[Key, Rows] = {}
    for row in rows:
        found.setdefault((row["condition_id"], row["agent_id"]), []).append(row)
    return found


def _header(connection: DuckDBPyConnection, judge_ids: Sequence[str]) -> Header:
    (counts,) = _rows(connection, _COUNTS)
    (newest,) = _rows(connection, _NEWEST_RUN)
    agent, dataset = newest["agent"], newest["dataset"]
    return Header(
        name=newest["name"],
        version=newest["version"],
        agent=AgentInfo(agent["name"], agent["type"], agent["model"]) if agent else None,
        models=tuple(row["model"] for row in _rows(connection, _MODELS)),
        judges=tuple(
            JudgeInfo(**row)
            for row in in_order(_rows(connection, _JUDGES), judge_ids, lambda row: str(row["judge_id"]))
        ),
        dataset=DatasetInfo(dataset["path"], dataset["samples"], dataset["sha256"]) if dataset else None,
        seed=newest["seed"],
        **counts,
    )


_COUNTS = """
    with event as (
        select 'run' as type, time from runs
        union all select 'response', time from responses
        union all select 'judgment', time from judgments
        union all select 'failure', time from failures
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
    from responses as r
    semi join missing as m on m.condition_id = r.condition_id and m.agent_id = r.agent_id and m.current
    where r.current
    order by model
"""

_JUDGES = """
    select judge.name as name, judge.type as type, judge.model as model, judge_id
    from (
        select judge_id, arg_max(judge, position) as judge, min(position) as first_position
        from judgments where current group by judge_id
    )
    order by first_position
"""


def _order(connection: DuckDBPyConnection) -> tuple[list[str], list[str]]:
    """Return names of conditions and ids of judges: of the newest run in the config's order, then of older ones."""
    rows = _rows(connection, _CONFIGURED)
    names = dict.fromkeys(name for row in rows for name in row["names"] or ())
    judge_ids = dict.fromkeys(judge_id for row in rows for judge_id in row["judge_ids"] or ())
    return list(names), list(judge_ids)


_CONFIGURED = """
    select map_keys(conditions) as names, [judge.judge_id for judge in judges] as judge_ids
    from runs order by position desc
"""


def _conditions(connection: DuckDBPyConnection, order: Sequence[str]) -> tuple[ConditionSummary, ...]:
    planned = _rows(connection, "select * from missing where current order by condition")
    answers = _by_condition(_rows(connection, _ANSWERS))
    costs = _by_condition(_rows(connection, _COSTS))
    calls = _by_condition(_rows(connection, _CALLS))
    servers = _by_condition(_rows(connection, _SERVERS))
    summaries = []
    for row in in_order(planned, order, lambda row: str(row["condition"])):
        key = (row["condition_id"], row["agent_id"])
        summaries.append(_summary(row, answers.get(key), costs.get(key, []), calls.get(key), servers.get(key, [])))
    return tuple(summaries)


def _summary(
    row: dict[str, Any], answers: Rows | None, costs: Rows, calls: Rows | None, servers: Rows
) -> ConditionSummary:
    (answered,) = answers or [{}]
    (called,) = calls or [{}]
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
        tool_calls=called.get("calls", 0),
        tool_calls_failed=called.get("failed", 0),
        servers=tuple(
            ServerUse(use["server"], use["responses"], use["responses_using"], use["called"], use["failed"])
            for use in servers
        ),
        answers_searched=answered.get("searched", 0),
        answers_with_canary=answered.get("found", 0),
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
        count(usage.cache_creation_input_tokens) as cache_creation_input_tokens_known,
        count(searched) as searched, count(found) as found
    from responses
    left join (select response_id as searched from searched_answers) on id = searched
    left join (select distinct response_id as found from canaries) on id = found
    where current group by condition_id, agent_id
"""

_COSTS = """
    select
        condition_id, agent_id, stage, fsum(cost_usd) as cost_usd,
        sum(n + failed_attempts - unknown)::bigint as known, sum(unknown)::bigint as unknown
    from costs where current group by condition_id, agent_id, stage
"""

_CALLS = """
    select condition_id, agent_id, count(*) as calls, count(*) filter (error) as failed
    from tool_calls group by condition_id, agent_id
"""

_SERVERS = """
    select
        condition_id, agent_id, server, count(*) as responses, count(*) filter (use.called > 0) as responses_using,
        sum(use.called)::bigint as called, sum(use.failed)::bigint as failed
    from (
        select condition_id, agent_id, unnest(map_keys(mcp)) as server, unnest(map_values(mcp)) as use
        from responses where current
    )
    group by condition_id, agent_id, server
    order by server
"""


def _is_mock(
    connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary], bodies: Iterable[JsonObject]
) -> bool:
    by_condition = _by_condition(_rows(connection, _MOCK))
    of_events = [row["mock"] for found in conditions for row in by_condition.get(_key(found), [])]
    of_bodies = [body["mock"] for body in bodies if body["current"]]
    if of_events or of_bodies:
        return any(of_events) or any(of_bodies)
    return any(row["mock"] for row in _rows(connection, "select mock from runs order by position desc limit 1"))


_MOCK = """
    select condition_id, agent_id, bool_or(mock) as mock
    from (
        select condition_id, agent_id, mock from responses where current
        union all select condition_id, agent_id, mock from judgments where current
        union all select condition_id, agent_id, mock from failures where current
    )
    group by condition_id, agent_id
"""


def _key(summary: ConditionSummary) -> Key:
    return summary.condition_id, summary.agent_id


def _claims(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> tuple[ConditionClaims, ...]:
    """Return the claims of all conditions, or nothing where no judge found any: many judges look for none."""
    claims = _by_condition(_rows(connection, _CLAIMS))
    judged = _by_condition(_rows(connection, _JUDGED))
    if not any(_key(found) in claims for found in conditions):
        return ()
    return tuple(
        ConditionClaims(
            condition=found.name,
            answers_judged=row["judged"],
            answers_with_claims=row["claiming"],
            claims=tuple(Claim(claim["claim"], claim["answers"]) for claim in claims.get(_key(found), [])),
        )
        for found in conditions
        for row in judged.get(_key(found), [])
    )


_CLAIMS = """
    select condition_id, agent_id, claim, count(distinct response_id) as answers
    from (
        select condition_id, agent_id, response_id, trim(unnest(unverified_claims)) as claim
        from judgments where current
    )
    where claim <> ''
    group by condition_id, agent_id, claim
    order by answers desc, claim
"""

_JUDGED = """
    select
        condition_id, agent_id, count(distinct response_id) as judged,
        count(distinct response_id) filter (len(unverified_claims) > 0) as claiming
    from judgments where current group by condition_id, agent_id
"""


def _failures(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> tuple[FailureGroup, ...]:
    by_condition = _by_condition(_rows(connection, _FAILURES))
    return tuple(
        FailureGroup(found.name, row["stage"], row["kind"], row["count"], row["example"])
        for found in conditions
        for row in by_condition.get(_key(found), [])
    )


_FAILURES = """
    select condition_id, agent_id, stage, kind, count(*) as count, arg_min(message, position) as example
    from failures where current
    group by condition_id, agent_id, stage, kind
    order by stage, count desc, kind
"""


def _incomplete(conditions: Sequence[ConditionSummary]) -> Iterator[Caution]:
    lacking = [found for found in conditions if found.not_done]
    if lacking:
        planned = sum(found.planned or 0 for found in conditions)
        where = ", ".join(f"{found.name} {found.not_done}" for found in lacking)
        not_done = sum(found.not_done or 0 for found in lacking)
        yield Caution(
            "incomplete",
            f"INCOMPLETE: {not_done} of {planned} planned answers are not done ({where}); "
            "the same command does what is missing",
        )


def _other_cautions(
    connection: DuckDBPyConnection, header: Header, conditions: Sequence[ConditionSummary], bodies: Sequence[JsonObject]
) -> Iterator[Caution]:
    known = {model for model in (header.agent.model if header.agent else None, *header.models) if model}
    for judge in header.judges:
        if judge.model in known:
            yield Caution(
                "judge_is_agent",
                f"judge {judge.name} and the agent are the same model, {judge.model}: it may favour its own answers",
            )
    if len({found.agent_id for found in conditions}) > 1:
        yield Caution(
            "several_agents", "the conditions were answered by different agents; only those of one agent are compared"
        )
    yield from _read_the_answer(connection, conditions)
    yield from _asked_again(connection, conditions)
    yield from _left_behind(connection, conditions)
    unjudged = _by_condition(_rows(connection, _UNJUDGED))
    count = sum(row["count"] for found in conditions for row in unjudged.get(_key(found), []))
    if count:
        have = "1 response has" if count == 1 else f"{count} responses have"
        yield Caution("unjudged", f"{have} no judgment: keval judge LOG")
    yield from _older(connection, bodies)


_UNJUDGED = """
    select condition_id, agent_id, count(*) as count
    from responses as r
    anti join (select response_id from judgments where current) as j on j.response_id = r.id
    anti join (select response_id from failures where current and stage = 'judge') as f on f.response_id = r.id
    where current
    group by condition_id, agent_id
"""


def _read_the_answer(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> Iterator[Caution]:
    """Yield where a tool that belongs to no MCP server of the condition returned the golden answer."""
    by_condition = _by_condition(_rows(connection, _READ_THE_ANSWER))
    for found in conditions:
        for row in by_condition.get(_key(found), []):
            yield Caution(
                "golden_answer_read",
                f"{found.name}: in {_counted(row['answers'], 'answer')} the golden answer was returned by a tool that "
                f"belongs to no MCP server of the condition ({', '.join(row['tools'])}): the agent can read it where "
                "no agent should find it",
            )


_READ_THE_ANSWER = """
    select condition_id, agent_id, count(distinct response_id) as answers, list_sort(list(distinct name)) as tools
    from canaries where server is null
    group by condition_id, agent_id
"""


def _left_behind(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> Iterator[Caution]:
    by_condition = _by_condition(_rows(connection, _LEFT_BEHIND))
    for found in conditions:
        for row in by_condition.get(_key(found), []):
            left = f"left processes behind: {', '.join(row['names'])}; they were ended"
            yield Caution("processes_left_behind", f"{found.name}: {_counted(row['count'], 'task')} {left}")


_LEFT_BEHIND = """
    select condition_id, agent_id, count(*) as count, list_sort(list_distinct(flatten(list(processes)))) as names
    from leaks
    group by condition_id, agent_id
"""


def _asked_again(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> Iterator[Caution]:
    """Yield where a condition asked again for what its gates refused: it was let choose among its answers."""
    by_condition = _by_condition(_rows(connection, _ASKED_AGAIN))
    for found in conditions:
        for row in by_condition.get(_key(found), []):
            yield Caution(
                "asked_again_by_a_gate",
                f"{found.name}: {_counted(row['answers'], 'answer')} met the condition's gates only when asked again "
                f"(retry_gates); {_counted(row['refused'], 'attempt')} that did not are in no mean",
            )


_ASKED_AGAIN = """
    select condition_id, agent_id, count(*) as answers, sum(refused)::bigint as refused
    from (
        select condition_id, agent_id, len(list_filter(
            failed_attempts, lambda attempt: attempt.kind in ('mcp_unused', 'mcp_all_failed')
        )) as refused
        from responses where current
    )
    where refused > 0
    group by condition_id, agent_id
"""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _older(connection: DuckDBPyConnection, bodies: Sequence[JsonObject]) -> Iterator[Caution]:
    rows = _rows(connection, "select * from missing where not current and completed + failed > 0 order by condition")
    names = [row["condition"] for row in rows] or [
        name
        for name, _ in dict.fromkeys(
            (body["condition"], body["condition_id"]) for body in bodies if not body["current"]
        )
    ]
    if names:
        yield Caution(
            "older_conditions",
            f"older versions of conditions in the log are not shown: {len(names)} ({', '.join(dict.fromkeys(names))})",
        )
    (row,) = _rows(connection, "select count(*) as count from responses where not current")
    if row["count"]:
        yield Caution("older_samples", f"answers to older versions of their questions are not counted: {row['count']}")


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
