"""JUnit XML for the test pages of a CI: a case per comparison, per condition for answers, and per metric for scores.

A report has no rules: a condition that is lower than its baseline fails, and where nobody can tell nothing is claimed.
What must hold says `keval gate -f junit`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from keval.counted import counted
from keval.exports import Export
from keval.exports._junit import JunitCase, Outcome, document, suite
from keval.metric_names import full_name
from keval.readable import interval, number
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable
from keval.reports.model import ConditionSummary, Report


@dataclass(frozen=True, kw_only=True)
class Junit(Export):
    """Writes comparisons as test cases: one that is lower than its baseline is a failure."""

    def render(self, report: Report) -> bytes:
        """Return the report as JUnit XML."""
        return self.render_all([report])

    def render_all(self, reports: Sequence[Report]) -> bytes:
        """Return several reports as one document."""
        return f"{document(list(map(_suite, reports)))}\n".encode()

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a suite of keval's."""
        return re.match(rb'<\?xml [^>]*>\s*(<testsuites>\s*)?<testsuite name="keval report', head) is not None


def _suite(report: Report) -> ET.Element:
    about = " ".join(filter(None, ["keval report", report.header.name, "(mock)" if report.mock else ""]))
    cases = [
        *(_compared(table, found) for table in report.metrics for found in table.differences),
        *map(_answered, report.conditions),
        *(_scored(table, found) for table in report.metrics for found in table.scores),
    ]
    return suite(about, cases, report.banner, _said(report))


def _compared(table: MetricTable, found: Difference) -> JunitCase:
    shown = number(found.difference, "+")
    if found.ci_lower is not None:
        shown += f" {interval(found.ci_lower, found.ci_upper, '+')}"
    said = f"{shown}, {counted(found.n_paired, 'sample')}: {found.conclusion}"
    why = found.qualification or found.reasons.get("conclusion")
    is_told = found.qualification is None and found.conclusion not in ("cannot tell", "borderline")
    return JunitCase(
        full_name(table.judge, table.metric),
        f"{found.condition} against {found.baseline}",
        "skipped" if not is_told else "failure" if found.conclusion == "lower" else "passed",
        f"{said} ({why})" if why else said,
        found.conclusion,
    )


def _answered(condition: ConditionSummary) -> JunitCase:
    """Say of how many tasks there are answers; any that failed or is missing is in a number, or leaves it uncertain."""
    lacking = {**condition.failed, **({"not done": condition.not_done} if condition.not_done else {})}
    said = [counted(condition.completed, "answer"), *(f"{kind}: {times:,}" for kind, times in lacking.items())]
    kind = "failed" if condition.failed else "missing"
    return JunitCase("answers", condition.name, "error" if lacking else "passed", ", ".join(said), kind)


def _scored(table: MetricTable, found: ConditionScore) -> JunitCase:
    """Say how many tasks have a score, and what became of the others."""
    missing = found.not_measured + (found.not_done or 0)
    said = [f"{found.scored:,} scored", *(f"{kind}: {times:,}" for kind, times in found.failed.items())]
    said += [f"not done: {found.not_done:,}"] if found.not_done else []
    outcome: Outcome = "error" if missing else "passed"
    return JunitCase(
        full_name(table.judge, table.metric), f"scores of {found.condition}", outcome, ", ".join(said), "missing"
    )


def _said(report: Report) -> Iterator[str]:
    for headline in report.headlines:
        yield headline.text
    for warning in (*report.warnings_first, *report.warnings):
        yield warning.text
