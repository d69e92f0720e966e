"""Says what a reader of a report must be warned of, beside what the numbers themselves show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.reports.conclusions import ReportWarning
from keval.reports.model import ConditionSummary, Header
from keval.reports.queries import ask, by_condition
from keval.reports.tool_use import ToolUse

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def incomplete(conditions: Sequence[ConditionSummary]) -> Iterator[ReportWarning]:
    """Yield what must be read before any number: that planned answers are not done."""
    lacking = [found for found in conditions if found.not_done]
    if lacking:
        planned = sum(found.planned or 0 for found in conditions)
        where = ", ".join(f"{found.name} {found.not_done}" for found in lacking)
        not_done = sum(found.not_done or 0 for found in lacking)
        yield ReportWarning(
            "incomplete",
            f"INCOMPLETE: {not_done} of {planned} planned answers are not done ({where}); "
            "the same command does what is missing",
        )


def others(
    connection: DuckDBPyConnection,
    header: Header,
    conditions: Sequence[ConditionSummary],
    bodies: Sequence[JsonObject],
    used: Mapping[tuple[str, str], ToolUse],
) -> Iterator[ReportWarning]:
    """Yield everything else that the views over a log give cause for."""
    known = {model for model in (header.agent.model if header.agent else None, *header.models) if model}
    for judge in header.judges:
        if judge.model in known:
            yield ReportWarning(
                "judge_is_agent",
                f"judge {judge.name} and the agent are the same model, {judge.model}: it may favour its own answers",
            )
    if len({found.agent_id for found in conditions}) > 1:
        yield ReportWarning(
            "several_agents", "the conditions were answered by different agents; only those of one agent are compared"
        )
    yield from _unplanned(conditions, bodies)
    yield from _answer_leakage(conditions, used)
    yield from _asked_again(connection, conditions)
    yield from _orphaned(connection, conditions)
    count = sum(row["count"] for _, row in _each(connection, "unjudged", conditions))
    if count:
        have = "1 response has" if count == 1 else f"{count} responses have"
        yield ReportWarning("unjudged", f"{have} no judgment: keval judge LOG")
    yield from _not_applicable(connection)
    yield from _left_out(connection)
    yield from _older(connection, bodies)


def _unplanned(conditions: Sequence[ConditionSummary], bodies: Sequence[JsonObject]) -> Iterator[ReportWarning]:
    """Yield what the newest run does not say: which condition is the baseline, or what is planned of some."""
    unplanned = [found.name for found in conditions if found.planned is None]
    baselines = dict.fromkeys(body["baseline"] for body in bodies if body["type"] == "comparison" and body["current"])
    if len(unplanned) == len(conditions):
        for baseline in baselines if conditions else ():
            yield ReportWarning(
                "baseline_by_name",
                f"no run event says which condition is the baseline: {baseline} is taken, the first by name",
            )
    elif unplanned:
        yield ReportWarning(
            "not_in_config",
            f"not in the config of the newest run, so nothing more is planned of it: {', '.join(unplanned)}",
        )


def _answer_leakage(
    conditions: Sequence[ConditionSummary], used: Mapping[tuple[str, str], ToolUse]
) -> Iterator[ReportWarning]:
    """Yield where a tool that belongs to no MCP server of the condition returned the golden answer."""
    for found in conditions:
        use = used.get(found.key)
        if use is not None and use.found_elsewhere:
            yield ReportWarning(
                "answer_leakage",
                f"{found.name}: in {_counted(use.found_elsewhere, 'answer')} the golden answer was returned by a tool "
                f"that belongs to no MCP server of the condition ({', '.join(sorted(use.tools_elsewhere))}): the "
                "agent can read it where no agent should find it",
            )


def _orphaned(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> Iterator[ReportWarning]:
    for found, row in _each(connection, "orphaned", conditions):
        left = f"left processes behind: {', '.join(row['names'])}; they were ended"
        yield ReportWarning("orphaned_processes", f"{found.name}: {_counted(row['count'], 'task')} {left}")


def _asked_again(connection: DuckDBPyConnection, conditions: Sequence[ConditionSummary]) -> Iterator[ReportWarning]:
    """Yield where a condition asked again for what its gates refused: it was let choose among its answers."""
    for found, row in _each(connection, "asked_again", conditions):
        yield ReportWarning(
            "asked_again_by_a_gate",
            f"{found.name}: {_counted(row['answers'], 'answer')} met the condition's gates only when asked again "
            f"(retry_gates); {_counted(row['refused'], 'attempt')} that did not are in no mean",
        )


def _each(
    connection: DuckDBPyConnection, name: str, conditions: Sequence[ConditionSummary]
) -> Iterator[tuple[ConditionSummary, JsonObject]]:
    """Yield what a query finds of each condition, in the order of the conditions."""
    rows = by_condition(connection, name)
    for found in conditions:
        for row in rows.get(found.key, []):
            yield found, row


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _older(connection: DuckDBPyConnection, bodies: Sequence[JsonObject]) -> Iterator[ReportWarning]:
    names = [row["condition"] for row in ask(connection, "older_conditions")] or [
        name
        for name, _ in dict.fromkeys(
            (body["condition"], body["condition_id"]) for body in bodies if not body["current"]
        )
    ]
    if names:
        yield ReportWarning(
            "older_conditions",
            f"older versions of conditions in the log are not shown: {len(names)} ({', '.join(dict.fromkeys(names))})",
        )
    (row,) = ask(connection, "older_questions")
    if row["count"]:
        yield ReportWarning(
            "older_samples", f"answers to older versions of their questions are not counted: {row['count']}"
        )


def _left_out(connection: DuckDBPyConnection) -> Iterator[ReportWarning]:
    """Yield how many responses the newest plan does not have: what it leaves out is in no number of the report."""
    (row,) = ask(connection, "left_out")
    if row["count"]:
        one = row["count"] == 1
        responses = "1 response of an earlier plan is" if one else f"{row['count']} responses of earlier plans are"
        yield ReportWarning("earlier_plans", f"{responses} left out; --all takes them")


def _not_applicable(connection: DuckDBPyConnection) -> Iterator[ReportWarning]:
    """Yield which metrics were not applicable to some answers, which are in no mean of theirs."""
    for row in ask(connection, "not_applicable"):
        yield ReportWarning(
            "not_applicable",
            f"{row['metric']}, judge {row['judge']}: not applicable to {_counted(row['answers'], 'answer')}, "
            f"left out of its means ({row['reason']})",
        )
