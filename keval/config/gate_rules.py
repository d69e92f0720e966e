"""Reads the rules of a gate: each is one line, such as `completeness of with_docs >= 4`. docs/gate.md has the grammar.

A rule is read without a log; whether the log has what it names is found out later.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

import orjson

from keval.errors import UsageError
from keval.nearest import near

Sign = Literal[">=", ">", "<=", "<"]
Unit = Literal["score", "share", "usd", "seconds"]

PHRASES: dict[str, Unit] = {
    "pass rate": "share",
    "missing": "share",
    "failures": "share",
    "tool errors": "share",
    "cost per answer": "usd",
}
"""What can be asked beside metrics, and in which unit; pass@K, pass^K and latency pNN have a number in them."""

NUMBERED: dict[str, tuple[re.Pattern[str], Unit]] = {
    "pass@K": (re.compile(r"pass@(\d+)", re.ASCII), "share"),
    "pass^K": (re.compile(r"pass\^(\d+)", re.ASCII), "share"),
    "latency pNN": (re.compile(r"latency p(\d{1,2})", re.ASCII), "seconds"),
}

BASELINE, BEFORE = "baseline", "before"
"""What a comparison may refer to beside the baseline's own name: BEFORE is an earlier log."""

RELATIONS: dict[str, tuple[Literal[">", "<"], int]] = {
    "higher than": (">", 1),
    "lower than": ("<", -1),
    "not lower than": (">", -1),
    "non-inferior to": (">", -1),
    "not higher than": ("<", 1),
}
"""What is asked of a difference: on which side of the margin it is to be, and on which side of 0 the margin is."""

MEANT = {
    "better than": "higher than",
    "greater than": "higher than",
    "above": "higher than",
    "worse than": "lower than",
    "below": "lower than",
    "at least as good as": "not lower than",
    "not worse than": "not lower than",
}
"""What people write for a relation, and what it is called here."""

LONGEST_RULE = 1_000
"""Characters of a rule: on a longer one the patterns would work for minutes."""

NEEDS_MARGIN = ("not lower than", "non-inferior to", "not higher than")

PRESETS: dict[str, tuple[str, ...]] = {
    "retrieval-minimum": ("retrieved_hit_rate > 0.80", "retrieved_mrr > 0.70", "overall_score > 0.75"),
    "retrieval-target": (
        "retrieved_hit_rate > 0.90",
        "retrieved_mrr > 0.85",
        "overall_score > 0.85",
        "combined > 1.20",
    ),
}
"""Rules by name: two levels for an agent that looks things up, for the judge `sources` and the rubric `quality`."""

_EXAMPLES: dict[Unit, str] = {"score": "4", "share": "80%", "usd": "$0.05", "seconds": "30s"}
"""A limit in each unit."""

_NO_SPACES = 'a name with a space in it stands in double quotes, as "my condition"'

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_STANDS_FOR = re.compile(r"⟦\d+⟧")
"""What stands for a quoted name while a rule is read: one word, without a sign."""

_LEVEL = re.compile(r"(?P<quantity>[^<>=]+?)(?: of (?P<condition>[^\s<>=]+))?\s*(?P<sign>[<>=]+)\s*(?P<limit>[^<>=]+)")
_COMPARISON = re.compile(
    r"(?:(?P<metric>\S+) of )?(?P<condition>\S+) (?:is )?"
    rf"(?P<relation>{'|'.join(map(re.escape, RELATIONS))}) (?P<reference>\S+)(?: by (?P<margin>\S+))?"
)
_SIGN_BETWEEN_NAMES = re.compile(r"(?P<left>(?:\S+? of )?[^\s<>=]+) ?(?P<sign>[<>]=?) ?(?P<right>[^\s<>=]+)")
_LIMIT = re.compile(r"(?P<usd>\$)?(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))\s*(?P<unit>%|ms|s)?", re.ASCII)
_FOR_EACH = re.compile(r"(?P<rule>.+) for each (?P<field>\S+)")
_FOR_EACH_OF_WORDS = re.compile(r"[^<>=]+[<>=].* for each \S+ .+")
_FOR_EACH_BEFORE_LIMIT = re.compile(r"(?P<left>[^<>=]+) for each (?P<field>[^<>=]+?) (?P<limit>[<>=].*)")
_SHARE_OF = re.compile(r"(?P<percent>\d+\.?\d*|\.\d+)\s*% of (?P<reference>\S+)", re.ASCII)
ONLY_BASELINE = "groups of samples are compared with the baseline of the same log alone"
_BY_MARGIN = "compare scores by `METRIC of CONDITION not lower than baseline by 0.2`"


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a rule asks about: a metric by its name, or one of `PHRASES` and `NUMBERED`."""

    name: str
    unit: Unit = "score"
    number: int | None = None
    """The K of pass@K and pass^K, the NN of latency pNN."""

    @property
    def is_metric(self) -> bool:
        """Whether it is named in the log and not here."""
        return self.unit == "score"


@dataclass(frozen=True, slots=True)
class Level:
    """Asks that a quantity reach a limit, under one condition or under all."""

    text: str
    quantity: Quantity
    condition: str | None
    sign: Sign
    limit: float
    """Where it is a share of a reference's, that share."""
    reference: str | None = None
    """The condition, or the earlier log, of whose quantity the limit is a share."""
    by: str | None = None
    """A field of the samples: it is asked of each group of samples with a value of it in common."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Asks that the difference between a condition and a reference lie on one side of a limit."""

    text: str
    metric: str | None
    """None for every metric that a judge scores."""
    condition: str
    reference: str
    sign: Sign
    limit: float
    by: str | None = None
    """As for `Level`."""


Rule = Level | Comparison


def beyond_scale(rule: Comparison, metric: str, low: float, high: float) -> str | None:
    """Return what is wrong with a margin that the scale of a metric does not have, else None."""
    if abs(rule.limit) <= high - low:
        return None
    return f"the scale of {metric} is {low:g} to {high:g}, on which nothing differs by {abs(rule.limit):g}"


def read_rule(written: str) -> Rule:
    """Return a rule as it is written; raises UsageError that says what is wrong with it, and what may be meant.

    A name in double quotes, which is a JSON string, may hold spaces and signs.
    """
    if len(written) > LONGEST_RULE:
        raise UsageError(
            f"rule {written[:20]!r}…: has {len(written):,} characters; a rule has at most {LONGEST_RULE:,}"
        )
    names = _Quoted()
    plain = _QUOTED.sub(names.put_away, written)
    try:
        return names.in_rule(_read(plain))
    except UsageError as error:
        raise UsageError(*map(names.put_back, error.problems)) from None


class _Quoted:
    """The quoted names of a rule, for each of which one word stands while it is read."""

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def put_away(self, found: re.Match[str]) -> str:
        """Return the word that stands for a quoted name."""
        word = f"⟦{len(self._written)}⟧"
        self._written[word] = found[0]
        return word

    def put_back(self, text: str) -> str:
        """Return a text with the names as they were written."""
        return _STANDS_FOR.sub(lambda word: self._written.get(word[0], word[0]), text)

    def in_rule(self, rule: Rule) -> Rule:
        """Return a rule with the names that words stand for. Raises UsageError."""
        text = self.put_back(rule.text)
        rule = replace(rule, by=rule.by and self._named(rule.by, text))
        if isinstance(rule, Level):
            quantity = replace(rule.quantity, name=self._named(rule.quantity.name, text))
            condition, reference = (name and self._named(name, text) for name in (rule.condition, rule.reference))
            return replace(rule, text=text, quantity=quantity, condition=condition, reference=reference)
        metric = rule.metric and self._named(rule.metric, text)
        condition, reference = (self._named(name, text) for name in (rule.condition, rule.reference))
        return replace(rule, text=text, metric=metric, condition=condition, reference=reference)

    def _named(self, name: str, text: str) -> str:
        if name not in self._written:
            return self.put_back(name)
        try:
            return str(orjson.loads(self._written[name]))
        except orjson.JSONDecodeError as error:
            raise UsageError(f"rule {text!r}: {name} is no JSON string: {error}") from error


def _read(written: str) -> Rule:
    text = " ".join(written.split())
    if text.count(" for each ") > 1:
        raise UsageError(f"rule {text!r}: asks for each of two fields; one `for each` is possible")
    if (found := _FOR_EACH.fullmatch(text)) is not None:
        return _for_each(text, _read(found["rule"]), found["field"])
    if _FOR_EACH_OF_WORDS.fullmatch(text):
        raise UsageError(f"rule {text!r}: a field with a space in its name stands in double quotes")
    if (found := _FOR_EACH_BEFORE_LIMIT.fullmatch(text)) is not None:
        meant = f"`{found['left']} {found['limit']} for each {found['field']}`"
        raise UsageError(f"rule {text!r}: `for each` stands at the end; write {meant}")
    if (compared := _COMPARISON.fullmatch(text)) is not None:
        return _comparison(text, compared)
    if (level := _LEVEL.fullmatch(text)) is not None:
        return _level(text, level)
    raise UsageError(f"rule {text!r}: {_what_is_missing(text)}")


def _for_each(text: str, rule: Rule, by: str) -> Rule:
    if isinstance(rule, Level) and not rule.quantity.is_metric:
        raise UsageError(
            f"rule {text!r}: of groups of samples only scores are known, not {rule.quantity.name}; hold a metric to a "
            f"score, as in `METRIC >= 0.5 for each {by}`"
        )
    if rule.reference == BEFORE:
        raise UsageError(f"rule {text!r}: {ONLY_BASELINE}")
    return replace(rule, text=text, by=by)


def _comparison(text: str, found: re.Match[str]) -> Comparison:
    sign, side = RELATIONS[found["relation"]]
    if found["metric"] is None and found["condition"] in PHRASES:
        raise UsageError(f"rule {text!r}: only scores are compared so; {_held_to_a_number(found['condition'])}")
    if found["margin"] is None and found["relation"] in NEEDS_MARGIN:
        raise UsageError(f"rule {text!r}: does not say by how much; add, for example, `by 0.2`")
    margin = 0.0 if found["margin"] is None else _number(found["margin"])
    if not margin >= 0 or math.isinf(margin):
        raise UsageError(f"rule {text!r}: {found['margin']!r} is no margin; {_MARGIN}")
    if found["metric"] and not (asked := _quantity(found["metric"], text)).is_metric:
        other = f"`{found['metric']} of {found['condition']} {sign}= {_EXAMPLES[asked.unit]}`"
        raise UsageError(
            f"rule {text!r}: only scores are compared so; hold {found['metric']} to a number, as in {other}"
        )
    return Comparison(text, found["metric"], found["condition"], found["reference"], sign, side * margin)


def _level(text: str, found: re.Match[str]) -> Level:
    signs: dict[str, Sign] = {">=": ">=", ">": ">", "<=": "<=", "<": "<"}
    if found["sign"] not in signs:
        raise UsageError(f"rule {text!r}: {found['sign']!r} is not >=, >, <= or <{_range_meant(text, found)}")
    quantity = _quantity(found["quantity"], text)
    sign = signs[found["sign"]]
    if (share := _SHARE_OF.fullmatch(found["limit"].strip())) is not None:
        if quantity.unit not in {"usd", "seconds"}:
            instead = _BY_MARGIN if quantity.is_metric else _held_to_a_number(found["quantity"])
            raise UsageError(f"rule {text!r}: a share of another's is a limit of costs and times; {instead}")
        return Level(text, quantity, found["condition"], sign, float(share["percent"]) / 100, share["reference"])
    return Level(text, quantity, found["condition"], sign, _limit(found["limit"], quantity, text))


def _held_to_a_number(name: str) -> str:
    """Return how a rule is written about what is compared with nothing."""
    return f"hold {name} to a number, as in `{name} {'>= 80%' if name.startswith('pass') else '<= 5%'}`"


def _quantity(written: str, text: str) -> Quantity:
    if written in PHRASES:
        return Quantity(written, PHRASES[written])
    for name, (pattern, unit) in NUMBERED.items():
        if (found := pattern.fullmatch(written)) is not None:
            if not int(found[1]):
                raise UsageError(f"rule {text!r}: {name} begins at 1")
            return Quantity(name, unit, int(found[1]))
    if " " in written:
        why = _NO_SPACES if " of " in written else near(written, [*PHRASES, *NUMBERED])
        raise UsageError(f"rule {text!r}: nothing is called {written!r}; {why}")
    return Quantity(written)


def _limit(written: str, quantity: Quantity, text: str) -> float:
    found = _LIMIT.fullmatch(written.strip())
    if found is None:
        raise UsageError(f"rule {text!r}: {written.strip()!r} is not a number{_comparison_meant(text)}")
    number, unit = float(found["number"]), found["unit"]
    fitting = {"score": (None,), "share": (None, "%"), "usd": (None,), "seconds": (None, "s", "ms")}
    if unit not in fitting[quantity.unit] or (found["usd"] and quantity.unit != "usd"):
        begun = [phrase for phrase in PHRASES if phrase.startswith(f"{quantity.name} ")] if found["usd"] else []
        meant = begun or difflib.get_close_matches(quantity.name, PHRASES, n=1) if quantity.is_metric else None
        hint = f"; did you mean {meant[0]!r} by {quantity.name!r}?" if meant else ""
        raise UsageError(f"rule {text!r}: {written.strip()!r} is no {_KIND[quantity.unit]}{hint}")
    number /= {"%": 100, "ms": 1000}.get(unit, 1)  # to multiply by 0.01 makes 70 % a little more than 0.7
    if quantity.unit == "share" and not 0 <= number <= 1:
        raise UsageError(f"rule {text!r}: {quantity.name} is a share, from 0% to 100%; {found['number']} is none")
    return number


def _comparison_meant(text: str) -> str:
    """Return how a comparison of two conditions is written, for a rule that has a sign between two names."""
    found = _SIGN_BETWEEN_NAMES.fullmatch(text)
    if found is None:
        return ""
    relation = {">": "higher than", "<": "lower than", ">=": "not lower than", "<=": "not higher than"}[found["sign"]]
    margin = " by 0.2" if relation in NEEDS_MARGIN else ""
    return f"; to compare two conditions write `{found['left']} {relation} {found['right']}{margin}`"


def _range_meant(text: str, found: re.Match[str]) -> str:
    """Return how a rule is written that asks for the same: a measured number is never exactly another one."""
    if _LIMIT.fullmatch(found["limit"].strip()):
        return "; a mean is never exactly a number: give the least or the most that will do"
    left, right = text[: found.start("sign")].strip(), found["limit"].strip()
    rules = (f"`{left} {relation} {right} by 0.2`" for relation in ("not lower than", "not higher than"))
    return f"; that two conditions are alike takes two rules: {' and '.join(rules)}"


_MARGIN = "it is a number from 0 on, of the metric's scale: 5 points of a scale from 0 to 1 are 0.05"

_KIND: dict[Unit, str] = {
    "score": "score, which is a plain number",
    "share": "share, such as 5% or 0.05",
    "usd": "amount of dollars, such as $0.05",
    "seconds": "time, such as 30s or 500ms",
}


def _number(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return math.nan


def _what_is_missing(text: str) -> str:
    words = text.split()
    phrases = [" ".join(words[place : place + size]) for size in (2, 3) for place in range(len(words) - size + 1)]
    if (relation := next((phrase for phrase in phrases if phrase in RELATIONS), None)) is not None:
        if text.startswith(("cost per answer", "latency p")):
            longest = max((each for each in phrases if each in RELATIONS), key=len)
            quantity = text.partition(f" {longest}")[0].removesuffix(" is")
            reference = text.partition(f" {longest} ")[2].partition(" ")[0] or BASELINE
            return f"only scores are compared so; write `{quantity} <= 120% of {reference}`"
        _, by, margin = text.partition(f" {relation} ")[2].partition(" by ")
        if by:
            return _NO_SPACES if 0 <= _number(margin) < math.inf else f"{margin!r} is no margin; {_MARGIN}"
    for phrase in phrases:
        if found := difflib.get_close_matches(phrase, RELATIONS, n=1, cutoff=0.75):
            if phrase == found[0]:
                return f"{phrase!r} stands between one condition and another, each one word, or in double quotes"
            return f"did you mean {found[0]!r} by {phrase!r}?"
    for phrase in sorted(MEANT, key=len, reverse=True):
        if f" {phrase} " in text:
            return _said_otherwise(text, phrase)
    return f"it compares nothing; write >=, >, <= or < and a number, or one of: {', '.join(RELATIONS)}"


def _said_otherwise(text: str, phrase: str) -> str:
    """Return how a rule is written that has a phrase of `MEANT`."""
    left, _, right = text.partition(f" {phrase} ")
    if _LIMIT.fullmatch(right):
        sign = {"higher than": ">", "lower than": "<", "not lower than": ">="}[MEANT[phrase]]
        return f"write `{left} {sign} {right}`"
    margin = " by 0.2" if MEANT[phrase] in NEEDS_MARGIN else ""
    return f"write `{left} {MEANT[phrase]} {right}{margin}`"


def not_the_baseline(reference: str, baseline: str, conditions: Collection[str]) -> str:
    """Return what is to be said of a rule that compares with another condition than the baseline."""
    said = f"conditions are compared with {baseline!r}, the baseline"
    if reference in conditions:
        return f"{said}; `baseline: {reference}` in the config compares them with {reference!r}"
    return f"{said}; {near(reference, [baseline, BEFORE])}"


def unknown_condition(name: str, conditions: Collection[str], metrics: Collection[str]) -> str:
    """Return what is said of a name that no condition has: a metric's name is followed by that of a condition."""
    if name in metrics:
        return f"no condition is called {name!r}, a metric is; write `{name} of CONDITION`"
    return f"no condition is called {name!r}; {near(name, conditions)}"
