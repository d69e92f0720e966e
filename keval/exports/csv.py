"""One row per condition, judge and metric with all numbers, for spreadsheets (RFC 4180).

A condition that is compared with several others, as in three logs, has a row for each of them. Groups of samples, where
they were asked for, have rows of their own; the last column says which. A condition that nothing was scored for has one
row without judge and metric, so that its failures and costs are not lost. Unknown is an empty field. Text that a
spreadsheet would take for a formula begins with an apostrophe, and control characters are written as escapes, so that a
row is always one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from keval.exports import Export
from keval.printable import spreadsheet_cell
from keval.reports.groups import GroupedMetric
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable, statistic
from keval.reports.model import ConditionSummary, Report
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Value = str | float | bool | None

_INTERVAL = ("ci_level", "ci_method")
_SCORE = (
    *(name for name, each in AGGREGATE.items() if each.kind != "failed_by_kind" and not each.asked_by),
    *_INTERVAL,
)
_DIFFERENCE = (
    "baseline",
    *(name for name, each in PAIRED.items() if not each.asked_by),
    "conclusion",
    "qualification",
)
_SUMMARY = ("completed", "mean_duration_ms", "median_duration_ms", "agent_cost_per_answer_usd", "tool_calls")
_TOTALS = ("agent_cost_usd", "judge_cost_usd")

HEADER = (
    "mock", "judge", "judge_id", "metric", "min", "max", "condition", "condition_id", "agent_id",
    *_SCORE, "failed_kinds",
    *(name if name in {"baseline", "difference", "conclusion"} else f"difference_{name}" for name in _DIFFERENCE),
    *(f"condition_{name}" for name in _SUMMARY), "condition_failed_kinds", "condition_tool_calls_failed",
    *(f"condition_{name}{suffix}" for name in _TOTALS for suffix in ("", "_unknown")),
    "evaluation", "group",
)  # fmt: skip
"""The columns; what describes a whole condition begins with `condition_` and repeats in each of its rows."""


@dataclass(frozen=True, kw_only=True)
class Csv(Export):
    """Writes a report as comma-separated values, in full precision."""

    def render(self, report: Report) -> bytes:
        """Return the report as UTF-8 CSV with a header line."""
        return self.render_all([report])

    def render_all(self, reports: Sequence[Report]) -> bytes:
        """Return several reports as one table; a column says which evaluation a row is of."""
        import csv

        buffer = StringIO()
        writer = csv.writer(buffer, lineterminator="\r\n")
        writer.writerow(HEADER)
        for report in reports:
            for group, row in (*(("", row) for row in _rows(report)), *_group_rows(report)):
                writer.writerow([_field(value) for value in (*row, report.header.name, group or None)])
        return buffer.getvalue().encode()

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins with the columns of this table: later versions may add some at the end."""
        return head.startswith(",".join(HEADER[: HEADER.index("agent_id") + 1]).encode())


def _rows(report: Report) -> Iterator[list[Value]]:
    summaries = {(summary.name, summary.condition_id, summary.agent_id): summary for summary in report.conditions}
    shown = set()
    for table in report.metrics:
        for score in table.scores:
            shown.add(key := _key(score))
            compared = tuple(each for each in table.differences if each.condition == score.condition)
            for difference in compared or (None,):
                yield [report.mock, *_scored(table, score, difference), *_summed(summaries.get(key))]
    for key, summary in summaries.items():
        if key not in shown:
            unscored: list[Value] = [None] * (len(_SCORE) + 1)
            unscored[_SCORE.index("planned")] = summary.planned
            unscored[_SCORE.index("not_done")] = summary.not_done
            yield [report.mock, None, None, None, None, None, *key, *unscored, *_compared(None), *_summed(summary)]


def _group_rows(report: Report) -> Iterator[tuple[str, list[Value]]]:
    """Yield each group of samples, and its row by each metric and condition."""
    for table in report.groups:
        for each in table.scores:
            group = ", ".join(f"{field}={value}" for field, value in each.by.items())
            yield group, [report.mock, *_scored(table, each.score, each.difference), *_summed(None)]


def _key(score: ConditionScore) -> tuple[str, str, str]:
    return score.condition, score.condition_id, score.agent_id


def _scored(table: MetricTable | GroupedMetric, score: ConditionScore, difference: Difference | None) -> list[Value]:
    return [
        table.judge, table.judge_id, table.metric, table.min, table.max, *_key(score),
        *(statistic(score, name) for name in _SCORE), _kinds(score.failed), *_compared(difference),
    ]  # fmt: skip


def _compared(difference: Difference | None) -> list[Value]:
    return [None if difference is None else statistic(difference, name) for name in _DIFFERENCE]


def _summed(summary: ConditionSummary | None) -> list[Value]:
    if summary is None:
        return [None] * (len(_SUMMARY) + 2 + 2 * len(_TOTALS))
    totals = [getattr(summary, name) for name in _TOTALS]
    return [
        *(getattr(summary, name) for name in _SUMMARY), _kinds(summary.failed), summary.tool_calls_failed,
        *(value for total in totals for value in (total.value, total.unknown)),
    ]  # fmt: skip


def _kinds(failed: Mapping[str, int]) -> str:
    return " ".join(f"{kind}={times}" for kind, times in failed.items())


def _field(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return spreadsheet_cell(value)
    return repr(value)
