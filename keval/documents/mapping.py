"""Rules that make the fields of a record out of another one's, as users write them in YAML: no code.

A text is a template: `{question}` in it stands for a field, `{choices[0]}` and `{meta.level}` for what is
inside one, `{{` for a brace. An object takes a value as it is: `{field: answer, after: "####"}`. A list
is a list of rules. A field that is not there is an error, unless its rule says `optional: true`; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from string import Formatter
from typing import Any

Record = Mapping[str, Any]

STEP = re.compile(r"(?:^|\.)([^.\[\]]+)|\[(\d{1,9})\]")
"""One step of a path: a key, or an index into a list."""


class UnfitError(ValueError):
    """A record lacks what a rule needs, or has something else in its place; the message says what."""


@dataclass(frozen=True, slots=True)
class Template:
    """Text with fields in it: a literal before each, and a last one with no field after it."""

    parts: tuple[tuple[str, str | None], ...]

    def of(self, record: Record) -> str:
        """Return the text. Raises UnfitError for a field that is missing, or neither text nor a number."""
        return "".join(literal + ("" if path is None else _text(record, path)) for literal, path in self.parts)


@dataclass(frozen=True, slots=True)
class Value:
    """A value as the record has it, or what is read out of it."""

    field: str
    after: str | None = None
    """Only what follows the last of these in the text."""
    remove: str = ""
    """Characters that are taken out of the text."""
    split: str | None = None
    """What stands between the items of a list in the text, as in a cell of a CSV file."""
    choices: str | tuple[str, ...] | None = None
    """The value is a position in these, from 0."""
    optional: bool = False
    """A record may lack it: then it is null."""

    def of(self, record: Record) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value. Raises UnfitError for a field that is missing, or not what the rule needs."""
        value = look_up(record, self.field) if not self.optional or has(record, self.field) else None
        if value is None and self.optional:
            return None
        if self.after is not None:
            _, found, value = self._as_text(value).rpartition(self.after)
            if not found:
                raise UnfitError(f"{self.field!r} holds no {self.after!r}")
            value = value.strip()
        if self.remove:
            value = self._as_text(value).translate(dict.fromkeys(map(ord, self.remove)))
        if self.split is not None:
            return [item for each in self._as_text(value).split(self.split) if (item := each.strip())]
        return value if self.choices is None else self._choice(value, self.choices)

    def _as_text(self, value: object) -> str:
        if not isinstance(value, str):
            raise UnfitError(f"{self.field!r} is {kind(value)}, not text")
        return value

    def _choice(self, value: object, choices: str | tuple[str, ...]) -> str:
        text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
        if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) >= len(choices):
            raise UnfitError(f"{self.field!r} is {kind(value)}, not a position from 0 to {len(choices) - 1}")
        return choices[int(text)]


@dataclass(frozen=True, slots=True)
class Listed:
    """A list, one rule for each item."""

    rules: tuple[Rule, ...]

    def of(self, record: Record) -> list[Any]:
        """Return the list. Raises UnfitError as its rules do."""
        return [rule.of(record) for rule in self.rules]


Rule = Template | Value | Listed
Written = str | Mapping[str, Any] | list[Any]
"""A rule as YAML holds it."""


def rule(written: Written) -> Rule:
    """Read a rule that its schema accepts. Raises ValueError for a template or a path that cannot be read."""
    if isinstance(written, str):
        return Template(tuple(_parts(written)))
    if isinstance(written, list):
        return Listed(tuple(map(rule, written)))
    steps(written["field"])
    if {"split", "choices"} <= written.keys():
        raise ValueError("split and choices: a position is no list")
    choices = written.get("choices")
    return Value(**{**written, "choices": tuple(choices) if isinstance(choices, list) else choices})


def rules(written: Mapping[str, Any], problem: Callable[[str, str], None]) -> dict[str, Rule]:
    """Read rules by the names of the fields that they make; `problem` is told of those that cannot be read.

    A rule that its schema refuses is left out, as its schema has been asked.
    """
    read = {}
    for name, each in written.items():
        try:
            read[name] = rule(each)
        except ValueError as error:
            problem(name, str(error))
        except (TypeError, KeyError):
            continue
    return read


def fields(made_by: Rule) -> Iterator[str]:
    """Yield the names under which a record may have what a rule reads: each path, and the field that it begins at."""
    if isinstance(made_by, Listed):
        for each in made_by.rules:
            yield from fields(each)
        return
    paths = [made_by.field] if isinstance(made_by, Value) else [path for _, path in made_by.parts if path is not None]
    for path in paths:
        yield from (path, str(steps(path)[0]))


def _parts(template: str) -> list[tuple[str, str | None]]:
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"{error}; double a literal brace: {{{{ or }}}}") from None
    for _, path, spec, conversion in parsed:
        if spec or conversion:
            raise ValueError(f"the field {path!r} is followed by ':' or '!', which templates do not support")
        if path is not None:
            steps(path)
    return [(literal, path) for literal, path, _, _ in parsed]


def steps(path: str) -> list[str | int]:
    """Return the keys and indexes of a path such as `meta.levels[0]`. Raises ValueError for any other text."""
    found: list[str | int] = []
    position = 0
    while position < len(path) or not path:
        step = STEP.match(path, position) if path else None
        if step is None:
            raise ValueError(f"{path!r} is not a path to a field; write one such as question, choices[0] or meta.level")
        found.append(step[1] if step[1] is not None else int(step[2]))
        position = step.end()
    return found


def look_up(record: Record, path: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value at a path; a field of exactly that name comes first. Raises UnfitError where there is none."""
    if path in record:
        return record[path]
    value: Any = record
    for step in steps(path):
        if not _has(value, step):
            raise UnfitError(_missing(path, step, value))
        value = value[step]
    return value


def has(record: Record, path: str) -> bool:
    """Return whether a path leads to something in a record; a text that is no path leads to nothing."""
    try:
        look_up(record, path)
    except ValueError:  # UnfitError, too
        return False
    return True


def way_out(path: str, taken: Container[str]) -> tuple[str, str]:
    """Return a name for a field that is made of what a path leads to, none of those taken, and the rule that makes it.

    The rule is written as it stands in a config.
    """
    keys = [step for step in steps(path) if isinstance(step, str)]
    name = keys[-1] if keys[-1] not in taken else "_".join(keys)
    field = path if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", path) else dumps(path)
    return name, f"`fields: {{{name}: {{field: {field}}}}}`"


def _has(value: object, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and step < len(value)
    return isinstance(value, Mapping) and step in value


def _missing(path: str, step: str | int, value: object) -> str:
    place = repr(path) if path == str(step) else f"{path!r}: {step!r}"
    if isinstance(value, Mapping):
        there = f"the fields there: {', '.join(map(repr, value)) or 'none'}"
    elif isinstance(value, list):
        there = f"the list there has {len(value)} item{'s' * (len(value) != 1)}"
    else:
        there = f"what is there is {kind(value)}"
    return f"no field {place}; {there}"


def _text(record: Record, path: str) -> str:
    value = look_up(record, path)
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return dumps(value)
    raise UnfitError(f"{path!r} is {kind(value)}, neither text nor a number")


def kind(value: object) -> str:
    """Return what a value is, for a message."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return repr(value) if isinstance(value, str) else dumps(value)
