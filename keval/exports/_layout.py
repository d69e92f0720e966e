"""Lays a report out as sections of tables and lines, for the formats that people read.

`text` and `markdown` draw the same sections; only their marks differ. A plain string here is
keval's own words or a name or number out of the log; a `Quote` is text that somebody wrote
freely (a claim, a message). The drawing side treats neither as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from keval.exports._words import NOTHING, count, cut, dollars, duration, interval, kinds, number
from keval.reports.conclusions import ConditionScore, Difference, MetricTable, ReportWarning, statistic
from keval.reports.model import (
    AgentInfo,
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
from keval.stats.statistics import AGGREGATE, PAIRED, Statistic

MOST_CLAIMS = 10
"""Claims shown per condition; `json` holds all of them."""

_NOT_RECORDED = "not recorded in the input"


@dataclass(frozen=True, slots=True)
class Quote:
    """Text that somebody wrote freely."""

    text: str


Cell = str | Quote


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column titles; the first column says what the row is about."""

    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    by_condition: bool = False
    """Whether the other columns are conditions, so that they may be drawn in several tables."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A list; the parts of a line stand side by side."""

    lines: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the report."""

    title: str
    blocks: tuple[Table | Lines, ...]


def sections(report: Report) -> list[Section]:
    """Return the report's sections in reading order, without those that have nothing to say."""
    found = [
        _warnings("Read this first", report.warnings_first),
        Section("Source", (Table((), tuple(_source(report.header))),)),
        _conditions(report.conditions),
        *(_metric(table, report.metrics) for table in report.metrics),
        _claims(report.claims),
        _failures(report.failures),
        _warnings("Warnings", report.warnings),
        Section("Notes", (Lines(tuple((note,) for note in report.notes)),)) if report.notes else None,
    ]
    return [section for section in found if section is not None]


def title(header: Header) -> str:
    """Return the report's title: the evaluation's name and version."""
    if header.name is None:
        return "keval report"
    return f"keval report: {header.name}" + (f", version {header.version}" if header.version else "")


def _warnings(heading: str, warnings: Sequence[ReportWarning]) -> Section | None:
    return Section(heading, (Lines(tuple((warning.text,) for warning in warnings)),)) if warnings else None


def _source(header: Header) -> Iterator[tuple[Cell, ...]]:
    yield "agent", _actor(header.agent) if header.agent else _NOT_RECORDED
    if header.models:
        yield "models that answered", ", ".join(header.models)
    names = [judge.name for judge in header.judges]
    for judge in header.judges:
        yield "judge", _actor(judge) + (f", version {judge.judge_id[:8]}" if names.count(judge.name) > 1 else "")
    yield "dataset", _dataset(header.dataset) if header.dataset else _NOT_RECORDED
    if header.first_time and header.last_time:
        yield "time of the events", f"{header.first_time} to {header.last_time}"
    kinds_of_event = ("run", "response", "judgment", "failure")
    yield "events", ", ".join(_counted(getattr(header, f"{kind}s"), kind) for kind in kinds_of_event)
    yield "seed", _NOT_RECORDED if header.seed is None else str(header.seed)


def _counted(number_of: int, noun: str) -> str:
    return f"{count(number_of)} {noun}" if number_of == 1 else f"{count(number_of)} {noun}s"


def _actor(actor: AgentInfo | JudgeInfo) -> str:
    kind = actor.name if actor.name == actor.type else f"{actor.name} ({actor.type})"
    return f"{kind}, model {actor.model}" if actor.model else f"{kind}, no model named"


def _dataset(dataset: DatasetInfo) -> str:
    return f"{dataset.path}, {_counted(dataset.samples, 'sample')}, sha256 {dataset.sha256[:12]}"


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _Row(Generic[Item]):
    """One row of a table with a column per condition: how to show a cell, and why it is unknown."""

    label: str
    show: Callable[[Item], str]
    reason: Callable[[Item], str | None] = lambda _: None


def _side_by_side(items: Sequence[Item], names: Sequence[str], rows: Sequence[_Row[Item]]) -> tuple[Table | Lines, ...]:
    """Return a table with one column per item, and below it why some cells say nothing."""
    table = Table(
        columns=("", *names),
        rows=tuple((row.label, *(row.show(item) for item in items)) for row in rows),
        by_condition=True,
    )
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for item, name in zip(items, names, strict=True):
            reason = row.reason(item)
            if reason:
                reasons.setdefault((row.label, reason), []).append(name)
    lines = tuple((f"{label}{_of(who, len(items))}: {reason}",) for (label, reason), who in reasons.items())
    return (table, Lines(lines)) if lines else (table,)


def _of(names: Sequence[str], of: int) -> str:
    if len(names) == of:
        return ", all conditions" if of > 1 else ""
    return f", {', '.join(names)}"


def _conditions(conditions: Sequence[ConditionSummary]) -> Section | None:
    if not conditions:
        return None
    rows: list[_Row[ConditionSummary]] = [
        _Row("planned", lambda c: count(c.planned), lambda c: _no_plan(c.planned)),
        _Row("completed", lambda c: count(c.completed)),
        _Row("failed", lambda c: kinds(c.failed)),
        _Row("not done", lambda c: count(c.not_done), lambda c: _no_plan(c.not_done)),
        _Row("mean duration", lambda c: duration(c.mean_duration_ms), _no_duration),
        _Row("median duration", lambda c: duration(c.median_duration_ms), _no_duration),
        _total("agent cost", lambda c: c.agent_cost_usd, dollars, "attempts"),
        _Row(
            "agent cost per answer",
            lambda c: dollars(c.agent_cost_per_answer_usd),
            lambda c: None if c.agent_cost_per_answer_usd is not None else "no answer of known cost",
        ),
        _total("judge cost", lambda c: c.judge_cost_usd, dollars, "attempts"),
        *(_tokens(kind) for kind in dict.fromkeys(kind for c in conditions for kind in c.tokens)),
        _Row("tool calls", lambda c: _calls(c.tool_calls, c.tool_calls_failed)),
        *(_answer_leakage() if any(c.tool_calls for c in conditions) else ()),
        *(row for name in dict.fromkeys(use.server for c in conditions for use in c.servers) for row in _server(name)),
    ]
    return Section("Conditions", _side_by_side(conditions, [condition.name for condition in conditions], rows))


def _no_plan(value: float | None) -> str | None:
    return "no run event in the input says how much was planned" if value is None else None


def _no_duration(condition: ConditionSummary) -> str | None:
    return "no answer of known duration" if condition.mean_duration_ms is None else None


def _total(
    label: str, total: Callable[[ConditionSummary], Total], show: Callable[[float | None], str], items: str
) -> _Row[ConditionSummary]:
    def cell(condition: ConditionSummary) -> str:
        known = total(condition)
        # What is missing can only add to it.
        return f"≥ {show(known.value)}" if known.value is not None and known.unknown else show(known.value)

    def reason(condition: ConditionSummary) -> str | None:
        known = total(condition)
        if known.unknown:
            return f"unknown for {count(known.unknown)} of {count(known.known + known.unknown)} {items}"
        return "nothing to add up" if known.value is None else None

    return _Row(label, cell, reason)


def _tokens(kind: str) -> _Row[ConditionSummary]:
    return _total(kind.replace("_", " "), lambda c: c.tokens.get(kind, Total(None, 0, 0)), count, "answers")


def _calls(called: int, failed: int) -> str:
    return f"{count(called)} ({count(failed)} failed)" if failed else count(called)


def _answer_leakage() -> Iterator[_Row[ConditionSummary]]:
    def cell(condition: ConditionSummary) -> str:
        searched = condition.answers_searched
        return f"{count(condition.answers_with_leakage)} of {count(searched)} answers" if searched else NOTHING

    yield _Row(
        "golden answer in tool results",
        cell,
        lambda c: None if c.answers_searched else "no golden answer is long enough to be looked for",
    )


def _server(name: str) -> Iterator[_Row[ConditionSummary]]:
    def shown(show: Callable[[ServerUse], str]) -> Callable[[ConditionSummary], str]:
        def cell(condition: ConditionSummary) -> str:
            use = next((use for use in condition.servers if use.server == name), None)
            return "no such server" if use is None else show(use)

        return cell

    yield _Row(f"{name}: calls", shown(lambda use: _calls(use.called, use.failed)))
    yield _Row(f"{name}: answers using it", shown(_share))


def _share(use: ServerUse) -> str:
    share = f" ({use.responses_using / use.responses:.0%})" if use.responses else ""
    return f"{count(use.responses_using)} of {count(use.responses)}{share}"


def _metric(table: MetricTable, tables: Sequence[MetricTable]) -> Section:
    rows = [
        _score("mean", lambda s: number(s.mean)),
        _score("ci_lower", lambda s: _clipped(s, table)),
        _score("n_samples", lambda s: count(s.n_samples)),
        _score("planned", lambda s: f"{count(s.scored)} / {count(s.planned)}"),
        _score("agent_failed", lambda s: count(s.agent_failed)),
        _score("not_measured", lambda s: count(s.not_measured)),
        _score("not_done", lambda s: count(s.not_done)),
    ]
    if any(score.failed for score in table.scores):
        rows.append(_score("failed", lambda s: kinds(s.failed)))
    rows.append(_score("sd_within_sample", lambda s: number(s.sd_within_sample)))
    rows.append(_score("sd_between_samples", lambda s: number(s.sd_between_samples)))
    if any(score.mean_complete_case != score.mean for score in table.scores):
        rows.append(_score("mean_complete_case", lambda s: number(s.mean_complete_case)))
    if any((score.mean_lower, score.mean_upper) != (score.mean, score.mean) for score in table.scores):
        rows.append(_score("mean_lower", lambda s: interval(s.mean_lower, s.mean_upper)))
    rows += [_other(name) for name in _others(table.scores, AGGREGATE)]
    scores = _side_by_side(table.scores, [score.condition for score in table.scores], rows)
    heading = f"{table.metric}, scale {table.min:g} to {table.max:g}, judge {_judge(table, tables)}"
    return Section(heading, (*scores, *_differences(table.differences)))


def _judge(table: MetricTable, tables: Sequence[MetricTable]) -> str:
    same_name = {other.judge_id for other in tables if other.judge == table.judge}
    return f"{table.judge}, version {table.judge_id[:8]}" if len(same_name) > 1 else table.judge


def _score(name: str, show: Callable[[ConditionScore], str]) -> _Row[ConditionScore]:
    """Return the row of a statistic, and of those that share its label."""

    def reason(score: ConditionScore) -> str | None:
        if statistic(score, name) is not None:
            return None
        return score.reasons.get(name, "the input does not say why")

    return _Row(AGGREGATE[name].label, show, reason)


def _other(name: str) -> _Row[ConditionScore]:
    return _score(name, lambda score: _shown(AGGREGATE[name], score.other_statistics.get(name)))


def _shown(statistic: Statistic, value: float | None) -> str:
    return count(value) if statistic.kind == "total" else number(value)


def _others(found: Sequence[ConditionScore | Difference], statistics: Mapping[str, Statistic]) -> list[str]:
    """Return the names of the statistics without a row of their own that say something: a count of 0 does not."""
    silent = {name: (None, 0) if each.kind == "total" else (None,) for name, each in statistics.items() if each.shown}
    return [
        name
        for name, nothing in silent.items()
        if any(each.other_statistics.get(name) not in nothing for each in found)
    ]


def _clipped(score: ConditionScore, table: MetricTable) -> str:
    """Return the interval within the scale, beyond which a t interval may reach; `json` and `csv` have it whole."""
    if score.ci_lower is None or score.ci_upper is None:
        return NOTHING
    return interval(max(score.ci_lower, table.min), min(score.ci_upper, table.max))


def _differences(differences: Sequence[Difference]) -> Iterator[Table]:
    others = _others(differences, PAIRED)
    titles = [PAIRED[name].label for name in ("difference", "ci_lower", "n_paired", "wins", *others)]
    for baseline in dict.fromkeys(difference.baseline for difference in differences):
        rows = tuple(_difference(found, others) for found in differences if found.baseline == baseline)
        yield Table((f"minus {baseline}", *titles, "conclusion"), rows)


def _difference(found: Difference, others: Sequence[str]) -> tuple[Cell, ...]:
    return (
        found.condition,
        number(found.difference, "+"),
        interval(found.ci_lower, found.ci_upper, "+"),
        count(found.n_paired) + (f" ({count(found.n_dropped)} dropped)" if found.n_dropped else ""),
        f"{found.wins} / {found.ties} / {found.losses}",
        *(_shown(PAIRED[name], found.other_statistics.get(name)) for name in others),
        found.explanation,
    )


def _claims(claims: Sequence[ConditionClaims]) -> Section | None:
    blocks = tuple(_claims_of(found) for found in claims)
    return Section("Unverified claims", blocks) if blocks else None


def _claims_of(found: ConditionClaims) -> Table | Lines:
    judged = f"{count(found.answers_judged)} judged answers"
    if not found.claims:
        return Lines(((f"{found.condition}: none in {judged}",),))
    rows: list[tuple[Cell, Cell]] = [(count(claim.answers), Quote(cut(claim.text))) for claim in found.claims]
    if len(rows) > MOST_CLAIMS:
        rows[MOST_CLAIMS:] = [("", f"and {count(len(rows) - MOST_CLAIMS)} more: keval report -f json")]
    some = f"{count(len(found.claims))} different in {count(found.answers_with_claims)} of {judged}"
    return Table(("answers", f"{found.condition}: {some}"), tuple(rows))


def _failures(failures: Sequence[FailureGroup]) -> Section | None:
    if not failures:
        return None
    rows = tuple(
        (group.condition, group.stage, group.kind, count(group.count), Quote(cut(group.example))) for group in failures
    )
    return Section("Failures", (Table(("condition", "stage", "kind", "count", "for example"), rows),))
