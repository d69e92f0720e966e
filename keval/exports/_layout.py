"""Lays a report out as sections of tables and lines, for the formats that people read.

`text` and `markdown` draw the same sections; only their marks differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from keval.counted import counted
from keval.exports._blocks import Cell, Lines, Quote, Section, Table
from keval.exports._comparison import changed_samples, headlines
from keval.exports._groups import groups
from keval.exports._house import house
from keval.exports._scores import scores
from keval.exports._side_by_side import Row, side_by_side
from keval.exports._source import retractions, source
from keval.readable import NOTHING, count, cut, cut_inside, dollars, duration, kinds, share
from keval.reports.model import (
    ConditionClaims,
    ConditionSummary,
    FailureGroup,
    Header,
    Report,
    ReportWarning,
    ServerUse,
    Total,
)
from keval.reports.read_with_care import CARE

MOST_CLAIMS = 10
"""Claims shown per condition; `json` holds all of them."""


def sections(report: Report) -> list[Section]:
    """Return the report's sections in reading order, without those that have nothing to say."""
    found = [
        first_warnings(report),
        headlines(report),
        *scores(report.metrics),
        *map(groups, report.groups),
        house(report.house_scores) if report.house_scores else None,
        changed_samples(report),
        conditions(report.conditions),
        failures(report.failures),
        retractions(report.retractions),
        claims(report.claims),
        other_warnings(report),
        source(report.header),
        Section("Notes", (Lines(tuple((note,) for note in report.notes)),)) if report.notes else None,
    ]
    return [section for section in found if section is not None]


def title(header: Header) -> str:
    """Return the report's title: the evaluation's name and version."""
    if header.name is None:
        return "keval report"
    return f"keval report: {header.name}" + (f", version {header.version}" if header.version else "")


def first_warnings(report: Report) -> Section | None:
    """Show what is to be known before any number is read."""
    return _warnings("Read this first", report.warnings_first)


def other_warnings(report: Report) -> Section | None:
    """Show the other warnings, without those that are told beside the conclusions."""
    told = CARE if report.read_with_care and report.metrics else ()
    return _warnings("Warnings", [warning for warning in report.warnings if warning.code not in told])


def _warnings(heading: str, warnings: Sequence[ReportWarning]) -> Section | None:
    return Section(heading, (Lines(tuple((warning.text,) for warning in warnings)),)) if warnings else None


def conditions(summaries: Sequence[ConditionSummary]) -> Section | None:
    """Show what each condition did, took and cost."""
    if not summaries:
        return None
    rows: list[Row[ConditionSummary]] = [
        Row("planned", lambda c: count(c.planned), lambda c: _no_plan(c.planned)),
        Row("completed", lambda c: count(c.completed)),
        Row("failed", lambda c: kinds(c.failed), nothing="0"),
        Row("not done", lambda c: count(c.not_done), lambda c: _no_plan(c.not_done), nothing="0"),
        Row("mean duration", lambda c: duration(c.mean_duration_ms), _no_duration),
        Row("median duration", lambda c: duration(c.median_duration_ms), _no_duration),
        Row("p90 duration", lambda c: duration(c.p90_duration_ms), _no_duration),
        Row("p99 duration", lambda c: duration(c.p99_duration_ms), _no_duration),
        _total("agent cost", lambda c: c.agent_cost_usd, dollars, "attempts"),
        Row(
            "agent cost per answer",
            lambda c: dollars(c.agent_cost_per_answer_usd),
            lambda c: None if c.agent_cost_per_answer_usd is not None else "no answer of known cost",
        ),
        _total("judge cost", lambda c: c.judge_cost_usd, dollars, "attempts"),
        *(_tokens(kind) for kind in dict.fromkeys(kind for c in summaries for kind in c.tokens)),
        Row(
            "tool calls",
            lambda c: _calls(c.tool_calls, c.tool_calls_failed),
            lambda c: "the agent does not report them" if c.tool_calls is None else None,
            nothing=None if any(c.servers for c in summaries) else "0",
        ),
        *(_answer_leakage() if any(c.tool_calls for c in summaries) else ()),
    ]
    told = [replace(row, reason=_but_of_the_unanswered(row)) for row in rows]
    drawn = side_by_side(summaries, [summary.name for summary in summaries], told)
    return Section("Conditions", (*drawn, *_servers(summaries)))


def _but_of_the_unanswered(row: Row[ConditionSummary]) -> Callable[[ConditionSummary], str | None]:
    """Return why a cell says nothing; without any answer that needs no words."""
    return lambda condition: row.reason(condition) if condition.completed or condition.planned is None else None


def _no_plan(value: float | None) -> str | None:
    return "no run event in the input says how much was planned" if value is None else None


def _no_duration(condition: ConditionSummary) -> str | None:
    return "no answer of known duration" if condition.mean_duration_ms is None else None


def _total(
    label: str, total: Callable[[ConditionSummary], Total], show: Callable[[float | None], str], items: str
) -> Row[ConditionSummary]:
    def cell(condition: ConditionSummary) -> str:
        known = total(condition)
        # What is missing can only add to it.
        return f"≥ {show(known.value)}" if known.value is not None and known.unknown else show(known.value)

    def reason(condition: ConditionSummary) -> str | None:
        known = total(condition)
        if known.unknown:
            return f"unknown for {count(known.unknown)} of {count(known.known + known.unknown)} {items}"
        return "nothing to add up" if known.value is None else None

    return Row(label, cell, reason, nothing="0")


def _tokens(kind: str) -> Row[ConditionSummary]:
    return _total(kind.replace("_", " "), lambda c: c.tokens.get(kind, Total(None, 0, 0)), count, "answers")


def _calls(called: int | None, failed: int | None) -> str:
    if called is None:
        return NOTHING
    return f"{count(called)} ({count(failed)} failed)" if failed else count(called)


def _answer_leakage() -> Iterator[Row[ConditionSummary]]:
    def cell(condition: ConditionSummary) -> str:
        searched = condition.answers_searched
        return f"{count(condition.answers_with_leakage)} of {count(searched)} answers" if searched else NOTHING

    yield Row(
        "golden answer in tool results",
        cell,
        lambda c: None if c.answers_searched else "no golden answer is long enough to be looked for",
    )


def _servers(conditions: Sequence[ConditionSummary]) -> Iterator[Table]:
    """Yield a table of the MCP servers, each with the conditions that have it."""
    rows: list[tuple[Cell, ...]] = [
        (found.name, use.server, _connected(use), _calls(use.called, use.failed), _share(use))
        for found in conditions
        for use in found.servers
    ]
    if rows:
        yield Table(("condition", "MCP server", "connected", "calls", "answers using it"), tuple(rows))


def _connected(use: ServerUse) -> str:
    return "–" if use.connected is None else f"{count(use.connected)} of {count(use.tasks)}"


def _share(use: ServerUse) -> str:
    part = f" ({share(use.responses_using / use.responses)})" if use.responses else ""
    return f"{count(use.responses_using)} of {count(use.responses)}{part}"


def claims(by_condition: Sequence[ConditionClaims]) -> Section | None:
    """Show the unverified claims that most answers make."""
    blocks = tuple(_claims_of(found) for found in by_condition)
    return Section("Unverified claims", blocks) if blocks else None


def _claims_of(found: ConditionClaims) -> Table | Lines:
    judged = counted(found.answers_judged, "judged answer")
    if not found.claims:
        return Lines(((f"{found.condition}: none in {judged}",),))
    rows: list[tuple[Cell, Cell]] = [(count(claim.answers), Quote(cut(claim.text))) for claim in found.claims]
    if len(rows) > MOST_CLAIMS:
        rows[MOST_CLAIMS:] = [("", f"and {count(len(rows) - MOST_CLAIMS)} more: keval report -f json")]
    some = f"{count(len(found.claims))} different in {count(found.answers_with_claims)} of {judged}"
    return Table(("answers", f"{found.condition}: {some}"), tuple(rows))


def failures(kinds_of_failure: Sequence[FailureGroup]) -> Section | None:
    """Show how often what failed, with a message for example."""
    if not kinds_of_failure:
        return None
    rows = tuple(
        (group.condition, _stage(group), group.kind, count(group.count), Quote(cut_inside(group.example)))
        for group in kinds_of_failure
    )
    return Section("Failures", (Table(("condition", "stage", "kind", "count", "for example"), rows),))


def _stage(group: FailureGroup) -> str:
    """Return the stage that failed, with the name of the judge if it is one's."""
    return group.stage if group.judge is None else f"{group.stage} {group.judge}"
