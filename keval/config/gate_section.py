"""Reads the rules of `keval gate`: from a config's section `gate`, from what a log recorded of it, or from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keval import schema
from keval.config.gate_rules import PRESETS, Rule, read_rule
from keval.config.sections import list_in, mapping_in
from keval.errors import InputError, UsageError
from keval.nearest import near

if TYPE_CHECKING:
    from keval.documents.yaml_document import Keys


@dataclass(frozen=True, slots=True)
class Rules:
    """What a log is held to."""

    rules: tuple[Rule, ...]
    on_mean: bool = False
    """Whether the number itself decides, in the place of its interval."""


def check(written: Mapping[str, Any], problem: Callable[[Keys, str], None]) -> None:
    """Note what is wrong with the rules of a config; what its schema says of the section is checked elsewhere."""
    section = mapping_in(written, "gate")
    if (name := section.get("preset")) is not None and name not in PRESETS:
        problem(("gate", "preset"), f"no preset is called {name!r}; {near(str(name), PRESETS)}")
    for place, rule in enumerate(list_in(section, "rules")):
        if not isinstance(rule, str):
            continue
        try:
            read_rule(rule)
        except UsageError as error:
            problem(("gate", "rules", place), str(error))


def recorded(section: object) -> Rules:
    """Return the rules of a section `gate` that a log recorded; None of it is no rule.

    Raises UsageError for rules that this version does not understand.
    """
    found = section if isinstance(section, Mapping) else {}
    return Rules(given(list_in(found, "rules"), found.get("preset")), found.get("on") == "mean")


def given(rules: Sequence[object], preset: object) -> tuple[Rule, ...]:
    """Return the rules of a preset and then others; raises UsageError for all that is wrong with them."""
    made: list[Rule] = []
    problems: list[str] = []
    for written in (*PRESETS.get(str(preset), ()), *rules):
        try:
            made.append(read_rule(str(written)))
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return tuple(made)


def read_file(path: Path) -> Rules:
    """Return the rules of a YAML file: a list of them, or a config with a section `gate`.

    Raises InputError that lists what is wrong with them, with its lines, and for a file without any.
    """
    from keval.documents import yaml_document

    document = yaml_document.read(path)
    if document.problems:
        raise InputError(*(f"{path}:{line}: {message}" for line, _, message in document.problems))
    found, problems = document.value, list[str]()

    def problem(keys: Keys, message: str) -> None:
        problems.append(f"{path}:{document.line(keys)}: {schema.json_path(keys)}: {message}")

    if isinstance(found, dict) and "gate" in found:
        for each in schema.problems("config", found):
            if each.keys[:1] == ("gate",):
                problem(each.keys, each.message)
        check(found, problem)
    else:
        _check_list(found, problem)
    if problems:
        raise InputError(*problems)
    listed = {"rules": found} if isinstance(found, list) else {}
    rules = recorded(found.get("gate") if isinstance(found, dict) else listed)
    if not rules.rules:
        raise InputError(f"{path}: neither a list of rules, such as `- completeness >= 4`, nor a config with a gate")
    return rules


def _check_list(found: object, problem: Callable[[Keys, str], None]) -> None:
    """Note what of a list is no rule."""
    for place, rule in enumerate(found if isinstance(found, list) else ()):
        if not isinstance(rule, str):
            problem((place,), f"{rule!r} is no rule, such as `completeness >= 4`")
            continue
        try:
            read_rule(rule)
        except UsageError as error:
            problem((place,), str(error))
