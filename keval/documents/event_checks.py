"""Writes what a type leaves open about an object as one Python expression, which its instances check themselves.

The expressions are exact: they are true of what a schema allows, and of nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import UNSET

Rules = Mapping[str, Any]
"""A JSON Schema, or a part of one."""

_SAID = {"$schema", "$id", "$defs", "title", "description"}
"""Keywords that allow and refuse nothing."""


class NotExpressibleError(Exception):
    """A schema has a rule for which there is no type."""


class Fields(NamedTuple):
    """The fields of an object that a condition can be about."""

    known: frozenset[str]
    required: frozenset[str]
    parts: Mapping[str, Rules]
    """What `$ref` can lead to, by name."""


def said(written: Rules) -> Rules:
    """Return a schema without what only people read."""
    return {keyword: value for keyword, value in written.items() if keyword not in _SAID}


def expect(rules: Rules, keywords: Iterable[str]) -> None:
    """Raise NotExpressibleError if a schema has other keywords than these."""
    if more := rules.keys() - keywords:
        raise NotExpressibleError(", ".join(sorted(more)))


def only(rules: Rules, keyword: str) -> Any:  # noqa: ANN401 - the value of any keyword
    """Return the value of a keyword that must stand alone."""
    expect(rules, {keyword})
    return rules[keyword]


def text(value: object) -> str:
    """Return a text; raises NotExpressibleError for anything else."""
    if not isinstance(value, str):
        raise NotExpressibleError(repr(value))
    return value


def condition(rules: Rules, fields: Fields) -> str:
    """Return what `if`, `allOf`, `anyOf` and the rules in them ask of an object, as an expression about `self`."""
    tests = []
    if "if" in rules:
        asked, then, otherwise = (_narrowed(rules.get(keyword, {}), fields) for keyword in ("if", "then", "else"))
        tests.append(f"(({then or True}) if ({asked or True}) else ({otherwise or True}))")
    for branch in rules.get("allOf", ()):
        expect(branch, {"if", "then", "else"})
        tests.append(condition(branch, fields))
    if "anyOf" in rules:
        branches = [_narrowed(branch, fields) or "True" for branch in rules["anyOf"]]
        tests.append(f"({' or '.join(f'({branch})' for branch in branches)})")
    return " and ".join(tests)


def _narrowed(written: Rules, fields: Fields) -> str:
    """Return what a rule about some keys of an object asks, as an expression about `self`."""
    rules = said(written)
    expect(rules, {"required", "properties", "not"})
    tests = []
    if "not" in rules:
        tests.append(f"not ({_narrowed(rules['not'], fields) or True})")
    for key in rules.get("required", ()):
        if key not in fields.known:
            raise NotExpressibleError(key)
        tests += [] if key in fields.required else [f"self.{key} is not UNSET"]
    for key, value in rules.get("properties", {}).items():
        if key not in fields.known:
            raise NotExpressibleError(key)
        tests.append(checked(key, test(value, "{0}", fields.parts), optional=key not in fields.required))
    return " and ".join(tests)


def test(written: Rules, place: str, parts: Mapping[str, Rules]) -> str:
    """Return a simple rule as an expression about any JSON value."""
    rules = said(written)
    if "$ref" in rules:
        return test(parts[only(rules, "$ref").removeprefix("#/$defs/")], place, parts)
    if "const" in rules and rules.get("type", "string") == "string":
        expect(rules, {"const", "type"})
        return f"{place} == {text(rules['const'])!r}"
    expect(rules, {"type", "minLength", "items", "minItems"})
    length = f" and len({place}) >= {int(rules['minLength'])}" if "minLength" in rules else ""
    known = {"string": f"({place}.__class__ is str{length})", "null": f"{place} is None"}
    if "items" in rules:
        each = f"all({test(rules['items'], 'each', parts)} for each in {place})"
        known["array"] = f"({place}.__class__ is list and len({place}) >= {int(rules.get('minItems', 0))} and {each})"
    kinds = [rules["type"]] if isinstance(rules.get("type"), str) else rules.get("type", ["anything"])
    if not known.keys() >= set(kinds):
        raise NotExpressibleError(str(kinds))
    return f"({' or '.join(known[kind] for kind in kinds)})"


def checked(key: str, check: str, *, optional: bool) -> str:
    """Return the check of a field as an expression about `self`."""
    return check and f"({f'self.{key} is UNSET or ' if optional else ''}{check.replace('{0}', f'self.{key}')})"


def scale(required: frozenset[str]) -> str:
    """Return what `schema.event_problem` asks of an object with a scale, beyond its schema."""
    if not required >= {"min", "max"}:
        return ""
    return "self.min < self.max" + (
        " and (self.score is None or self.min <= self.score <= self.max)" if "score" in required else ""
    )


_MINUTE, _SECOND, _THOUSANDTH = "2024-02-29T23:59", ":59.", "999Z"
"""A moment in the three parts in which it is looked at: of 16 characters, of 4, and the rest."""
_SECONDS = frozenset(f":{second:02}." for second in range(60))
_THOUSANDTHS = frozenset(f"{thousandth:03}Z" for thousandth in range(1000))
_NO_MOMENTS = (
    *("2024-02-29T23:59:59", "2024-02-29 23:59:59.999Z", "24-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999+00:00"),
    *("2024-00-29T23:59:59.999Z", "2024-13-29T23:59:59.999Z", "2024-02-00T23:59:59.999Z", "2024-02-32T23:59:59.999Z"),
    *("2024-02-29T24:59:59.999Z", "2024-02-29T23:60:59.999Z", "2024-02-29T23:59:60.999Z"),
)
"""What is no moment by its form."""


def initializer(check: str, functions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a class whose instances are made only if an expression about them is true."""
    if not check:
        return {}
    made: dict[str, Any] = {}
    source = f"def __post_init__(self):\n    if not ({check}):\n        raise ValueError"
    # One function written out is several times faster than one for each rule; no text from outside gets into it.
    known = {"UNSET": UNSET, "SECONDS": _SECONDS, "THOUSANDTHS": _THOUSANDTHS}
    exec(source, {**known, **functions}, made)  # noqa: S102 - see the line above
    return made


def pattern_check(rules: Rules, name: str) -> tuple[Callable[[str], object], str]:
    """Return what matches the pattern of a text, or of a moment its minute, and the check that calls it by a name."""
    pattern = rules.get("pattern", "")
    # What Python and JSON Schema read in one way: a whole text of ASCII, with plain sets, groups and numbers of times.
    plain = re.sub(r"\[(?:[0-9A-Za-z](?:-[0-9A-Za-z])?)+\]|\\[.\\]", "", pattern)
    if not re.fullmatch(r"\^[\w\-:(){}|]*\$", plain, re.ASCII):
        raise NotExpressibleError(pattern)
    match = re.compile(pattern[:-1] + r"\Z").match
    if "format" not in rules:
        return match, f"{name}({{0}})"
    moments = [_MINUTE + second + _THOUSANDTH for second in _SECONDS]
    moments += [_MINUTE + _SECOND + thousandth for thousandth in _THOUSANDTHS]
    if rules["format"] != "date-time" or not all(map(match, moments)) or any(map(match, _NO_MOMENTS)):
        raise NotExpressibleError(rules["format"])

    @lru_cache(maxsize=1024)  # lines that follow each other are often of one minute, and a match takes long
    def begins_moment(minute: str) -> bool:
        return match(minute + _SECOND + _THOUSANDTH) is not None and is_day(minute[:10])

    return begins_moment, f"{{0}}[16:20] in SECONDS and {{0}}[20:] in THOUSANDTHS and {name}({{0}}[:16])"


def is_day(text: str) -> bool:
    """Return whether there is such a day, written YYYY-MM-DD."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
