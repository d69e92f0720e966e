"""Draws what a gate came to: as text, Markdown, JSON and JUnit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

import orjson

from keval.config.gate_rules import Unit
from keval.exports._junit import JunitCase, Outcome, document, suite
from keval.exports.markdown import escaped
from keval.gate.findings import VERDICTS, Finding, GateResult, Verdict
from keval.printable import printable_json
from keval.readable import NOTHING, dollars, number
from keval.reports.model import BANNER
from keval.stats.intervals import LEVEL


def text(outcome: GateResult) -> Iterator[str]:
    """Yield a line per rule: the verdict, what was asked, what was found, and why it counts."""
    if outcome.mock:
        yield BANNER
    rows = [(each.verdict, f"{each.rule} ({each.about})", _found(each), each.why) for each in outcome.findings]
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
    for row in rows:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)), row[3]])
    yield f"gate: {summary(outcome)} (intervals are of {_levels(outcome)})"


def markdown(outcome: GateResult) -> Iterator[str]:
    """Yield a table for pull requests."""
    if outcome.mock:
        yield f"> **{escaped(BANNER)}**"
        yield ""
    yield f"**keval gate: {outcome.verdict}** ({summary(outcome)})"
    yield ""
    yield "| verdict | rule | asked of | found | why |"
    yield "| --- | --- | --- | --- | --- |"
    for each in outcome.findings:
        cells = (each.verdict, each.rule, each.about, _found(each), each.why)
        yield f"| {' | '.join(map(escaped, cells))} |"
    if outcome.warnings:
        yield ""
    for told in outcome.warnings:
        yield f"- {escaped(told)}"


def json(outcome: GateResult) -> Iterator[str]:
    """Yield one JSON object."""
    findings = [asdict(each) for each in outcome.findings]
    made = {"verdict": outcome.verdict, "mock": outcome.mock, "warnings": outcome.warnings, "findings": findings}
    yield printable_json(orjson.dumps(made, option=orjson.OPT_INDENT_2)).decode()


def junit(outcome: GateResult) -> Iterator[str]:
    """Yield JUnit XML: a rule that is not met is a failure, one of which nobody can tell is an error."""
    outcomes: Mapping[Verdict, Outcome] = {"met": "passed", "not met": "failure", "cannot tell": "error"}
    cases = [
        JunitCase(each.about, each.rule, outcomes[each.verdict], f"{_found(each)}; {each.why}", each.verdict)
        for each in outcome.findings
    ]
    yield document([suite("keval gate", cases, BANNER if outcome.mock else None, outcome.warnings)])


SHORT_S = 0.1
"""Seconds below which two decimals say too little."""

DIGITS = range(3, 13)
"""Significant digits that a number close to its limit is shown with: as few as tell them apart, and all that it has."""

FORMATS: dict[str, Callable[[GateResult], Iterator[str]]] = {
    "text": text,
    "markdown": markdown,
    "json": json,
    "junit": junit,
}


def summary(outcome: GateResult) -> str:
    """Return how many rules came to which verdict."""
    return ", ".join(f"{outcome.count(verdict)} {verdict}" for verdict in VERDICTS)


def _levels(outcome: GateResult) -> str:
    """Return the confidence levels of the intervals that are shown; where there are none, that of all others."""
    shown = {each.level for each in outcome.findings if each.lower is not None} or {LEVEL}
    return " or ".join(f"{100 * level:.4g} %" for level in sorted(shown))


def _found(each: Finding) -> str:
    sign = "+" if each.is_difference else ""
    shown = _shown(each, each.value, sign)
    if each.lower is not None and each.upper is not None:
        shown += f" [{_shown(each, each.lower, sign)}, {_shown(each, each.upper, sign)}]"
    if each.reference is not None:
        shown += f", beside {_shown(each, each.reference, sign)}"
    return f"{shown}, {each.of}" if each.of else shown


def _shown(each: Finding, value: float | None, sign: str) -> str:
    """Return a number as people read it, with more digits where it would look like a limit that it is not."""
    if value is None:
        return NOTHING
    shown = _rounded(each.unit, value, sign)
    if each.limit is None or value == each.limit or shown != _rounded(each.unit, each.limit, sign):
        return shown
    exact = ([_with_digits(each.unit, one, sign, digits) for one in (value, each.limit)] for digits in DIGITS)
    return next((found for found, limit in exact if found != limit), shown)


def _rounded(unit: Unit, value: float, sign: str) -> str:
    match unit:
        case "share":
            return f"{value:.1%}"
        case "usd":
            return dollars(value)
        case "seconds":
            return f"{value:.2f} s" if value >= SHORT_S else f"{value:.3g} s"
        case _:
            return number(value, sign)


def _with_digits(unit: Unit, value: float, sign: str, digits: int) -> str:
    """Return a number with so many significant digits."""
    match unit:
        case "share":
            return f"{100 * value:.{digits}g}%"
        case "usd":
            return f"${value:.{digits}g}"
        case "seconds":
            return f"{value:.{digits}g} s"
        case _:
            return f"{value:{sign}.{digits}g}"
