"""Judges rules by what a log says: met, not met, or cannot tell, each with its reason."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from keval.config.gate_rules import (
    BASELINE,
    BEFORE,
    NUMBERED,
    ONLY_BASELINE,
    PHRASES,
    Comparison,
    Level,
    Rule,
    Sign,
    Unit,
    beyond_scale,
    not_the_baseline,
    unknown_condition,
)
from keval.counted import counted
from keval.errors import InputError, UsageError
from keval.gate.facts import NO_CALLS, Facts, Found, unknown
from keval.metric_names import names
from keval.nearest import near
from keval.readable import cut, share
from keval.reports.metric_tables import MetricTable
from keval.stats.aggregates import rounded
from keval.stats.conclusions import Conclusion
from keval.stats.reasons import ALL_ALIKE, NONE_DIFFERS

Verdict = Literal["met", "not met", "cannot tell"]
VERDICTS: tuple[Verdict, ...] = ("met", "not met", "cannot tell")


NO_SCORES_HERE = "no scores in this group"

ALL_FAILED = "the agent failed whatever was asked"

HOLDS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule, asked of one condition and metric."""

    rule: str
    """As it is written."""
    about: str
    """The condition and judge that it was asked of."""
    verdict: Verdict
    why: str
    sign: Sign
    limit: float | None
    """None where it is a share of what is not known."""
    unit: Unit
    value: float | None
    lower: float | None
    upper: float | None
    of: str
    level: float
    """The confidence level of the interval from `lower` to `upper`."""
    is_difference: bool = False
    reference: float | None = None
    """Of what the limit is a share; None for a limit that the rule says."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What all rules came to."""

    findings: tuple[Finding, ...]
    mock: bool
    warnings: tuple[str, ...] = ()
    """What favours a condition, or one of the logs, so that rules are met more often than they should be."""

    def count(self, verdict: Verdict) -> int:
        """Return how many rules came to a verdict."""
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        """One that is not met decides; then one of which nobody can tell."""
        return next(said for said in ("not met", "cannot tell", "met") if self.count(said) or said == "met")


def judge_rules(rules: Iterable[Rule], now: Facts, before: Facts | None, *, on_mean: bool) -> GateResult:
    """Return what becomes of each rule, of each condition and metric that it does not name.

    `before` is an earlier log. `on_mean` takes the number itself for its interval. Raises UsageError that lists
    all names that the log does not have, and InputError for a log without conditions.
    """
    if not now.conditions:
        raise InputError("the log has no answers and no plan: there is nothing to hold to rules")
    problems: list[str] = []
    findings: list[Finding] = []
    for rule in rules:
        try:
            found = _level(rule, now, before) if isinstance(rule, Level) else _comparison(rule, now, before)
            findings += [_judged(rule, each, on_mean=on_mean) for each in found]
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return GateResult(tuple(findings), now.mock or (before is not None and before.mock))


@dataclass(frozen=True, slots=True)
class _Asked:
    about: str
    found: Found
    unit: Unit
    reference: float | None = None
    """The value of which the limit is a share; None if it is not known, or if the limit is a plain number."""


def _level(rule: Level, now: Facts, before: Facts | None) -> Iterator[_Asked]:
    conditions = [_condition(rule.text, rule.condition, now)] if rule.condition is not None else now.conditions
    if rule.reference is not None:
        yield from _beside(rule, rule.reference, conditions, now, before)
        return
    if not rule.quantity.is_metric:
        asked = [_Asked(name, _quantity(rule, now, name), rule.quantity.unit) for name in conditions]
        # Of no calls nothing can be said, and nothing needs to be said of a condition without tools.
        called = [each for each in asked if each.found.unknown != NO_CALLS]
        yield from called if rule.condition is None and called else asked
        return
    for table in _tables(rule.text, rule.quantity.name, now.tables):
        metric = now.name(table)
        if not table.min <= rule.limit <= table.max:
            raise UsageError(
                f"rule {rule.text!r}: the scale of {metric} is {table.min:g} to {table.max:g}{_meant(now)}"
            )
        for group, of_group in _groups(rule, table, now):
            for name in conditions:
                found = unknown(NO_SCORES_HERE) if of_group is None else now.score(of_group, name)
                yield _Asked(f"{name}, {metric}{group}", found, "score")


def _meant(now: Facts) -> str:
    """Return how a rule names one metric of several, with an example."""
    first, *others = [table for table in now.tables if table.computed is None] or now.tables
    return f"; a rule about one metric names it, such as {now.name(first)}" if others else ""


def _groups(rule: Rule, table: MetricTable, now: Facts) -> Iterator[tuple[str, MetricTable | None]]:
    """Yield a metric of all samples, or of each group that a rule asks for, with what is said of the group.

    None for a group in which it has no score, and for samples of which no record says the group.
    """
    if rule.by is None:
        yield "", table
        return
    found = now.groups(rule.by)
    if not found:
        yield f", each {rule.by}", None
    for value, tables in found.items():
        same = (each for each in tables if (each.judge_id, each.metric) == (table.judge_id, table.metric))
        yield f", {rule.by}={cut(value)}", next(same, None)
    if now.never_asked:
        yield f", {rule.by} of {counted(now.never_asked, 'sample')} never asked", None


def _beside(
    rule: Level, reference: str, conditions: Sequence[str], now: Facts, before: Facts | None
) -> Iterator[_Asked]:
    """Yield a quantity of conditions, each with the one of which the limit is a share: the baseline's, or before."""
    unit = rule.quantity.unit
    earlier = _reference(rule.text, reference, now, before)
    if earlier is None and rule.condition is None:
        conditions = [name for name in conditions if name != now.baseline]
    if not conditions:
        yield _Asked(f"beside {now.baseline}", unknown("nothing to compare: there is no other condition"), unit)
    for name in conditions:
        _check_no_baseline(rule.text, name, earlier, now)
        about = f"{name}, beside {now.baseline if earlier is None else BEFORE}"
        if earlier is not None and name not in earlier.conditions:
            yield _Asked(about, unknown("the earlier log does not have the condition"), unit)
            continue
        against = _quantity(rule, now, now.baseline) if earlier is None else _quantity(rule, earlier, name)
        if against.value is None:
            yield _Asked(about, unknown(f"of what it is held to: {against.unknown}"), unit)
        else:
            found = _quantity(rule, now, name)
            # A share of 1.7 s may differ from 1.717 s in its last digit alone.
            yield _Asked(about, replace(found, value=rounded(found.value)), unit, against.value)


def _quantity(rule: Level, now: Facts, condition: str) -> Found:
    name, number = rule.quantity.name, rule.quantity.number or 1
    if name == "latency pNN":
        return now.latency(condition, number)
    by_count: dict[str, Callable[[str], Found]] = {
        "missing": now.missing,
        "failures": now.failures,
        "tool errors": now.tool_errors,
        "cost per answer": now.cost_per_answer,
    }
    if name in by_count:
        return by_count[name](condition)
    return now.passes(condition, number, every=name != "pass@K")  # the pass rate is pass^1


def _comparison(rule: Comparison, now: Facts, before: Facts | None) -> Iterator[_Asked]:
    condition = _condition(rule.text, rule.condition, now)
    earlier = _reference(rule.text, rule.reference, now, before)
    _check_no_baseline(rule.text, condition, earlier, now)
    if rule.by is not None and earlier is not None:
        raise UsageError(f"rule {rule.text!r}: {ONLY_BASELINE}")
    minus = "before" if earlier is not None else now.baseline
    judged = [table for table in now.tables if table.computed is None]
    if rule.metric is None and not judged:
        yield _Asked(f"{condition} minus {minus}", unknown("no metric was judged"), "score")
    for table in judged if rule.metric is None else _tables(rule.text, rule.metric, now.tables):
        metric = now.name(table)
        if (told := beyond_scale(rule, metric, table.min, table.max)) is not None:
            raise UsageError(f"rule {rule.text!r}: {told}{_meant(now)}")
        about = f"{condition} minus {minus}, {metric}"
        if earlier is not None:
            yield _Asked(about, now.since(earlier, table, condition), "score")
            continue
        for group, of_group in _groups(rule, table, now):
            found = unknown(NO_SCORES_HERE) if of_group is None else now.difference(of_group, condition)
            yield _Asked(f"{about}{group}", found, "score")


def _reference(text: str, reference: str, now: Facts, before: Facts | None) -> Facts | None:
    """Return the earlier log if a rule refers to that, None if it refers to the baseline of the same log."""
    if reference == BEFORE or (reference == BASELINE and before is not None and BASELINE not in now.conditions):
        if before is None:
            raise UsageError(f"rule {text!r}: there is nothing before; name the earlier log with --baseline LOG")
        return before
    called = {now.baseline} if BASELINE in now.conditions else {now.baseline, BASELINE}
    if reference not in called:
        raise UsageError(f"rule {text!r}: {not_the_baseline(reference, now.baseline, now.conditions)}")
    return None


def _check_no_baseline(text: str, condition: str, earlier: Facts | None, now: Facts) -> None:
    if earlier is None and condition == now.baseline:
        raise UsageError(f"rule {text!r}: {condition!r} is the baseline itself")


def _condition(text: str, name: str, now: Facts) -> str:
    if name not in now.conditions:
        known = [each for table in now.tables for each in names(table.metric, table.judge)]
        raise UsageError(f"rule {text!r}: {unknown_condition(name, now.conditions, known)}")
    return name


def _tables(text: str, name: str, tables: Sequence[MetricTable]) -> list[MetricTable]:
    """Return the metrics that a name means: METRIC, JUDGE/METRIC, JUDGE_ID/METRIC, or the type of a formula."""
    meant = [each for each in tables if name in each.names]
    meant = meant or [each for each in tables if name == each.computed]
    if not meant:
        known = [called for each in tables for called in names(each.metric, each.judge)]
        raise UsageError(f"rule {text!r}: no metric is called {name!r}; {near(name, [*known, *PHRASES, *NUMBERED])}")
    return meant


def _judged(rule: Rule, asked: _Asked, *, on_mean: bool) -> Finding:
    found, limit = asked.found, _limit(rule, asked)
    verdict, why = _said(found, rule.sign, limit, on_mean=on_mean)
    return Finding(
        rule=rule.text,
        about=asked.about,
        verdict=verdict,
        why=why,
        sign=rule.sign,
        limit=limit,
        unit=asked.unit,
        value=found.value,
        lower=found.lower,
        upper=found.upper,
        of=found.of,
        level=found.level,
        is_difference=isinstance(rule, Comparison),
        reference=asked.reference,
    )


def _limit(rule: Rule, asked: _Asked) -> float | None:
    """Return the limit that a rule says, or comes to; None if that of which it is a share is not known."""
    if isinstance(rule, Comparison) or rule.reference is None:
        return rule.limit
    return None if asked.reference is None else float(rounded(rule.limit * asked.reference))


def _said(found: Found, sign: Sign, limit: float | None, *, on_mean: bool) -> tuple[Verdict, str]:
    """Return what is said of a limit: by the report's conclusion where it is 0, else by a number."""
    if limit is None:
        return "cannot tell", found.unknown or "unknown"
    if found.conclusion is not None and limit == 0 and not on_mean:
        return _concluded(found, found.conclusion, sign)
    if found.all_failed and found.value is not None and not on_mean:
        # A rule that asks for low scores did not mean those of failures.
        return ("cannot tell" if HOLDS[sign](found.value, limit) else "not met"), ALL_FAILED
    return _verdict(found, sign, limit, on_mean=on_mean)


def _verdict(found: Found, sign: Sign, limit: float, *, on_mean: bool) -> tuple[Verdict, str]:
    """Return what a number says of a limit: only if both ends of where it may be say so it is met, or not met."""
    if found.value is None:
        return _whatever_is_missing(found, sign, limit, on_mean=on_mean)
    by_itself = on_mean or found.counted or found.is_sure
    ends = (found.value, found.value) if by_itself else (found.lower, found.upper)
    holds = {HOLDS[sign](end, limit) for end in ends if end is not None}
    if not holds and found.worst is not None:
        return "cannot tell", f"{share(found.missing)} of the answers are missing"
    if not holds:
        alone = "; with --on mean the number alone decides" if found.unknown == NONE_DIFFERS else ""
        return "cannot tell", f"no interval: {found.why_no_interval}{alone}"
    if len(holds) > 1:
        return "cannot tell", "the interval includes the limit"
    whatever = {HOLDS[sign](end, limit) for end in (found.worst, found.best) if end is not None}
    if whatever - holds:
        return "cannot tell", f"{share(found.missing)} of the answers are missing, which could turn it round"
    return _BY[holds.pop()], _basis(found, on_mean=on_mean)


def _basis(found: Found, *, on_mean: bool) -> str:
    """Return what a verdict rests on."""
    if found.counted:
        return "counted"
    if on_mean:
        return "by the number alone"
    return ALL_ALIKE if found.is_sure else "the whole interval says so"


def _whatever_is_missing(found: Found, sign: Sign, limit: float, *, on_mean: bool) -> tuple[Verdict, str]:
    """Return what holds of a number that is not known, wherever the scores that are missing would have put it."""
    why = found.unknown or "unknown"
    ends = (found.worst, found.best) if on_mean else (found.lower, found.upper)
    holds = {HOLDS[sign](end, limit) for end in ends if end is not None}
    if None in ends or len(holds) > 1:
        return "cannot tell", why
    return _BY[holds.pop()], f"{why}, and that changes nothing"


def _concluded(found: Found, conclusion: Conclusion, sign: Sign) -> tuple[Verdict, str]:
    """Return what the report's conclusion, which takes a test and all that is missing into account, says of a side."""
    if conclusion == "borderline":
        return "cannot tell", "borderline: of the interval and the sign-flip test only one shows a difference"
    if conclusion not in {"higher", "lower"}:
        return "cannot tell", found.doubt or conclusion
    qualified = f", {found.qualification}" if found.qualification else ""
    return _BY[(conclusion == "higher") == (sign == ">")], f"concluded: {conclusion}{qualified}"


_BY: dict[bool, Verdict] = {True: "met", False: "not met"}
