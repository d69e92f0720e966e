"""Composes a report from the views over a log and from aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.projections import rows_of
from keval.projections.line_text import descriptors_of, line_in
from keval.reports import mixed_answers, warnings
from keval.reports.calibration import calibration
from keval.reports.changed_scores import MOST, changed_scores
from keval.reports.groups import grouped_metrics
from keval.reports.metric_tables import MetricTable, in_order, metric_tables
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
    ReportedServer,
    Retraction,
    ServerUse,
    Total,
)
from keval.reports.notes import notes, of_declared
from keval.reports.number_warnings import reversals, small_numbers
from keval.reports.queries import Queries, Rows, ask, asked_ahead, by_condition, query
from keval.reports.read_with_care import read_with_care
from keval.reports.retractions import retractions
from keval.reports.sentences import headlines
from keval.reports.stopping import stopping
from keval.reports.tool_use import ToolUse, server_use, tool_use
from keval.stats.aggregates import rounded
from keval.stats.asked import Asked
from keval.stats.declared import Declared, declared

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from keval.projections.log_file import LogFile

ALWAYS_ASKED = (
    "configured",
    "event_counts",
    "newest_run",
    "judge_labels",
    "models",
    "judges",
    "read_logs",
    "servers",
    "judges_of_configs",
    "tool_use",
    "shown_conditions",
    "condition_costs",
    "server_use",
    "mocked",
    "programs",
    "mixed_answers",
    "closed_failures",
    "judgments_left",
    "claims",
    "failure_groups",
    "orphaned",
    "asked_again",
    "answered_after_failures",
    "not_applicable",
    "order_dependent",
    "left_out",
    "older_conditions",
    "replaced_judges",
    "older_questions",
    "merged_out_of_order",
    "computed",
    "pairs_without_answer",
    "prompt_cache",
)
"""What every report asks, in its order."""

TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def compose(
    connection: DuckDBPyConnection,
    aggregates: Iterable[JsonObject] | None = None,
    by: Sequence[str] = (),
    *,
    logs: Sequence[LogFile] = (),
) -> Report:
    """Return the report of the logs that a connection of `keval.projections.connect` has views of.

    `logs` are these, where the reasons of what was retracted stand. `aggregates` are the bodies of `aggregate` and
    `comparison` events; None computes them. `by`: fields of the samples, for numbers of each group of samples that have
    values in common; the connection needs its views of texts for that.
    """
    with asked_ahead(connection, always_asked()) as queries:
        return composed(queries, aggregates, by, logs)


def always_asked() -> Iterator[str]:
    """Yield the queries of every report, in their order; the slowest one last, which is asked ahead first."""
    yield from map(query, ALWAYS_ASKED)
    yield query("changed_scores", most=str(MOST))


def composed(
    queries: Queries, aggregates: Iterable[JsonObject] | None, by: Sequence[str], logs: Sequence[LogFile]
) -> Report:
    """Return the report out of what the queries find; all else as in `compose`."""
    order, judge_ids = _order(queries)
    taken_back = retractions(queries.connection, logs) if logs else ()
    header = _header(queries, judge_ids, taken_back)
    measured = bool(header.responses or header.judgments or header.failures)
    bodies = list(aggregates or ())
    if aggregates is None and measured:
        from keval.stats.aggregates import aggregate

        bodies = list(aggregate(queries.connection, levels={"condition"}, asked=Asked(by=tuple(by))))
    (newest,) = queries.ask("newest_run")
    imported, does_rest = newest["imported"], "keval run CONFIG --mock" if newest["asks_mock"] else "keval run CONFIG"
    declaration = declared(queries.connection)
    tables = tuple(_tables(queries, header, _primary_first(metric_tables(bodies, order, judge_ids), declaration)))
    # Plans alone measure nothing: beside saved aggregates they would look like an unfinished run.
    used = tool_use(queries)
    conditions = _conditions(queries, order, used) if measured or not tables else ()
    mock = _is_mock(queries, conditions, bodies)
    small = tuple(small_numbers(tables, programs(queries, tables)))
    saved = [score for table in tables for score in table.scores]
    return Report(
        mock=mock,
        banner=BANNER if mock else None,
        warnings_first=(
            *stopping(queries.connection),
            *mixed_answers.warnings(queries),
            *(
                warnings.incomplete(queries, conditions, None if imported else does_rest)
                if conditions
                else warnings.unfinished(tables)
            ),
            *warnings.unjudged(queries, conditions, does_rest, names_judge=newest["names_judge"], mock=mock),
            *reversals(tables),
            *warnings.useless_servers((found.name, found.servers) for found in conditions),
        ),
        headlines=headlines(tables, is_incomplete=any(found.not_done for found in (conditions or saved))),
        read_with_care=read_with_care(tables, small),
        header=header,
        conditions=conditions,
        metrics=tables,
        changed_scores=changed_scores(queries, order),
        claims=_claims(queries, conditions),
        failures=_failures(queries, conditions),
        warnings=(
            *small,
            *warnings.failure_rates(tables),
            *warnings.others(queries, header, conditions, bodies, used),
        ),
        retractions=taken_back,
        notes=(*of_declared(declaration), *notes(queries, header, tables, bodies, measured=measured)),
        groups=grouped_metrics(bodies),
    )


def _primary_first(tables: Sequence[MetricTable], declaration: Declared) -> list[MetricTable]:
    """Return tables of metrics in their order, but for those that the config declares primary: they come first."""
    places = {name: place for place, name in enumerate(declaration.primary)}
    return sorted(tables, key=lambda table: min(places.get(name, len(places)) for name in table.names))


def _tables(queries: Queries, header: Header, tables: Iterable[MetricTable]) -> Iterator[MetricTable]:
    """Yield tables of metrics with who can be asked for what is missing in them."""
    (newest,) = queries.ask("newest_run")
    configured = {row["judge_id"] for row in queries.ask("judges_of_configs")}
    for table in tables:
        is_of_config = not header.judges or table.judge_id in configured or table.computed is not None
        yield replace(
            table,
            can_be_asked_again=not newest["imported"],
            is_of_config=is_of_config,
            asks_mock=newest["asks_mock"],
        )


def evaluation_names(connection: DuckDBPyConnection) -> list[str]:
    """Return the names of the configs whose runs stand in logs, in the order in which they came."""
    return [row["name"] for row in ask(connection, "evaluation_names")]


def saved_aggregates(connection: DuckDBPyConnection, logs: Sequence[LogFile]) -> Rows | None:
    """Return the `aggregate` and `comparison` events of logs that hold nothing from which to compute them.

    None where there are none, and for logs with responses, judgments or failures: what is computed
    from these is newer.
    """
    with descriptors_of(logs) as descriptors:
        return [
            orjson.loads(line_in(descriptors[row["file"] - 1], row["line_offset"]))
            for row in ask(connection, "saved_aggregates")
        ] or None


def programs(queries: Queries, tables: Iterable[MetricTable]) -> set[str]:
    """Return the ids of the judges of which nobody knows that they ask a model: aggregates do not say it."""
    known = {row["judge_id"]: row["asks_none"] for row in queries.ask("programs")}
    return {table.judge_id for table in tables if known.get(table.judge_id, True)}


def _header(queries: Queries, judge_ids: Sequence[str], taken_back: Sequence[Retraction]) -> Header:
    (counts,) = queries.ask("event_counts")
    (newest,) = queries.ask("newest_run")
    agent, dataset = newest["agent"], newest["dataset"]
    labels = {row["judge_id"]: row for row in queries.ask("judge_labels")}
    return Header(
        name=newest["name"],
        version=newest["version"],
        agent=AgentInfo(agent["name"], agent["type"], agent["model"]) if agent else None,
        models=tuple(row["model"] for row in queries.ask("models")),
        judges=tuple(
            JudgeInfo(**row | {"models": tuple(row["models"]), "calibration": calibration(row, labels)})
            for row in in_order(queries.ask("judges"), judge_ids, lambda row: str(row["judge_id"]))
        ),
        dataset=DatasetInfo(dataset["path"], dataset["samples"], dataset["sha256"]) if dataset else None,
        seed=newest["seed"],
        retracted=sum(found.events for found in taken_back),
        files=tuple("stdin" if row["log"] == "-" else row["log"] for row in queries.ask("read_logs")),
        servers=tuple(
            ReportedServer(**row | {"tools": None if row["tools"] is None else tuple(row["tools"])})
            for row in queries.ask("servers")
        ),
        **counts,
    )


def _order(queries: Queries) -> list[list[str]]:
    """Return names of conditions and ids of judges, those of the newest run first."""
    (configured,) = queries.ask("configured")
    return [list(dict.fromkeys(configured[column] or ())) for column in ("names", "judge_ids")]


def _conditions(
    queries: Queries, order: Sequence[str], used: Mapping[tuple[str, str], ToolUse]
) -> tuple[ConditionSummary, ...]:
    planned = queries.ask("shown_conditions")
    answers = by_condition(rows_of(queries.connection, "answer_statistics"))
    costs = by_condition(queries.ask("condition_costs"))
    servers = server_use(queries)
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
    servers: Sequence[ServerUse],
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
        servers=tuple(servers),
        answers_searched=used.searched,
        answers_with_leakage=used.found,
        p90_duration_ms=rounded(answered.get("p90_duration_ms")),
        p99_duration_ms=rounded(answered.get("p99_duration_ms")),
    )


def _tokens(total: int | None, known: int, of: int) -> Total:
    return Total(total, known, of - known)


def _is_mock(queries: Queries, conditions: Sequence[ConditionSummary], bodies: Iterable[JsonObject]) -> bool:
    mocked = by_condition(queries.ask("mocked"))
    of_bodies = [body["mock"] for body in bodies if body["current"]]
    if any(of_bodies) or any(found.key in mocked for found in conditions):
        return True
    nothing_is_there = not of_bodies and not any(found.completed or found.failed for found in conditions)
    return nothing_is_there and any(row["mock"] for row in queries.ask("newest_run"))


def _claims(queries: Queries, conditions: Sequence[ConditionSummary]) -> tuple[ConditionClaims, ...]:
    """Return the claims of all conditions, or nothing where no judge found any: many judges look for none."""
    claims = by_condition(queries.ask("claims"))
    if not any(found.key in claims for found in conditions):
        return ()
    judged = by_condition(queries.ask("answers_judged"))
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


def _failures(queries: Queries, conditions: Sequence[ConditionSummary]) -> tuple[FailureGroup, ...]:
    groups = by_condition(queries.ask("failure_groups"))
    return tuple(
        FailureGroup(found.name, row["stage"], row["kind"], row["count"], row["example"], row["judge"])
        for found in conditions
        for row in groups.get(found.key, [])
    )
