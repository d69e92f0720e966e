"""Checks JSON against `schemas/*.schema.json`, the source of truth, and says what is wrong in words.

`jsonschema-rs` decides, because every line written and every line read is checked;
`jsonschema` explains what was refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from keval import nearest
from keval.secrets.excerpts import beginning_of

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

EVENT_TYPES = (
    "run",
    "plan",
    "response",
    "sample_change",
    "judgment",
    "failure",
    "label",
    "retraction",
    "batch",
    "aggregate",
    "comparison",
    "until_rule",
    "until_decided",
    "until_end",
)
"""The known types of events; each has a schema of its name."""

PARTS = "urn:keval:schema:parts"
"""The file of what several schemas have; it describes no instance of its own."""

LONGEST_VALUE = 60
"""Characters of a value that a message shows before it is cut."""

_TYPES = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}

_EMPTY = "must not be empty"
_MESSAGES = {
    "oneOf": "expected {wanted}, found {found}",
    "type": "expected {wanted}, found {found}",
    "const": "expected {wanted}, found {found}",
    "enum": "{found} is not one of {wanted}{hint}",
    "minimum": "{found} is less than {wanted}",
    "maximum": "{found} is more than {wanted}",
    "exclusiveMinimum": "{found} is not more than {wanted}",
    "exclusiveMaximum": "{found} is not less than {wanted}",
    "pattern": "{found} is not {allowed}",
    "format": "{found} is not {allowed}",
    "minLength": _EMPTY,
    "maxLength": "{found} is longer than {wanted} characters",
    "minItems": _EMPTY,
    "maxItems": "holds more than {wanted} items",
    "minProperties": _EMPTY,
    "uniqueItems": "holds the same item twice",
    "anyOf": "{wanted} is missing",
    "not": "{wanted}",
}
"""What to say of each keyword; `allowed` is the description of the schema that the keyword stands in."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an instance."""

    path: str
    """Where, as in `$.scores.completeness.score`."""
    message: str
    keys: tuple[str | int, ...]
    """The path as keys and indexes; for an unknown key it ends with that key."""


def locate() -> Path:
    """Return the folder of the schemas: inside an installed package, beside it in a checkout."""
    installed = Path(__file__).parent / "_schemas"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "schemas"


def names() -> list[str]:
    """Return the names of all schemas of something, sorted."""
    files = (path.name.removesuffix(".schema.json") for path in locate().glob("*.schema.json"))
    return sorted(name for name in files if name != "parts")


def text(name: str) -> str:
    """Return a schema as it is written."""
    return (locate() / f"{name}.schema.json").read_text(encoding="utf-8")


def document(name: str) -> dict[str, Any]:
    """Return a schema that any validator can use by itself: all that it refers to is in its `$defs`."""
    written = text(name)
    schema: dict[str, Any] = orjson.loads(written.replace(f'"{PARTS}#/', '"#/'))
    others = re.findall(r'"\$ref": "urn:keval:schema:(\w+)"', written)
    schema["$defs"] = _parts(written) | schema.get("$defs", {}) | {other: document(other) for other in others}
    return schema


def _parts(written: str) -> dict[str, Any]:
    """Return the shared parts that a schema refers to, and those that these refer to, in the order of their file."""
    parts, references = _shared_parts()
    found: set[str] = set()
    waiting = re.findall(rf'"{PARTS}#/\$defs/(\w+)"', written)
    while waiting:
        part = waiting.pop()
        if part not in found:
            found.add(part)
            waiting += references[part]
    return {part: rules for part, rules in parts.items() if part in found}


@cache
def _shared_parts() -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return all parts, and the parts that each of them refers to."""
    parts: dict[str, Any] = orjson.loads(text("parts"))["$defs"]
    return parts, {part: re.findall(r'"#/\$defs/(\w+)"', orjson.dumps(rules).decode()) for part, rules in parts.items()}


def load_events() -> None:
    """Read the schemas of all events, which else are read when the first event of a type is checked."""
    for name in ("event", *EVENT_TYPES):
        _decider(name)


def is_valid(name: str, instance: object) -> bool:
    """Return whether a JSON value is what a schema asks for."""
    return _decider(name)(instance)


def problems(name: str, instance: object) -> list[Problem]:
    """Return all that is wrong with a value, ordered by path; an empty list if nothing is."""
    found = {problem for error in _explainer(name).iter_errors(instance) for problem in _explained(error)}
    found -= {missing for problem in found if (missing := _misspelt(problem)) is not None}
    return sorted(found, key=lambda problem: ([_sortable(key) for key in problem.keys], problem.message))


def _misspelt(problem: Problem) -> Problem | None:
    """Return the problem that a key is missing which another problem takes for misspelt: it is the same mistake."""
    near = re.search(r"; did you mean ('.*')\?$", problem.message)
    is_unknown = near is not None and problem.message.startswith("unknown key ")
    return _problem(problem.keys[:-1], f"{near[1]} is missing") if near is not None and is_unknown else None


def problem_by(
    document: Mapping[str, Any], instance: object, keywords: Mapping[str, Callable[..., Any]] | None = None
) -> str | None:
    """Return what is most wrong with a value by a schema of the caller's own as `$.path: message`, or None.

    `keywords` are functions that check keywords in place of those of `jsonschema`, with the same arguments.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend

    validator = extend(Draft202012Validator, keywords) if keywords else Draft202012Validator  # type: ignore[no-untyped-call]  # jsonschema left it without types
    error = best_match(validator(document).iter_errors(instance))
    if error is None:
        return None
    problem = _explained(error)[0]
    return f"{problem.path}: {problem.message}"


def event_problem(event: object) -> str | None:
    """Return what is most wrong with an event as `$.path: message`, or None if it is valid.

    Of an event of an unknown type only the envelope is checked.
    """
    if not isinstance(event, dict):
        return f"$: expected an object, found {_shown(event)}"
    event_type = event.get("type")
    name = event_type if isinstance(event_type, str) and event_type in EVENT_TYPES else "event"
    if not _decider(name)(event):
        return _most_relevant(name, event)
    return _scale_problem(name, event)


def _scale_problem(name: str, event: Mapping[str, Any]) -> str | None:
    """Return the first scale that is none, or score outside its own scale, which JSON Schema cannot express.

    What is asked here, `event_checks.scale` asks of lines that are accepted without this.
    """
    match name:
        case "judgment":
            return _score_problem(event["scores"])
        case "aggregate":
            return _empty_scale((), event)
        case "run":
            scored = (
                _empty_scale(("judges", judge, "metrics", metric), scale)
                for judge, described in enumerate(event["judges"])
                for metric, scale in enumerate(described["metrics"])
            )
            computed = (
                _empty_scale(("metrics", metric), scale) for metric, scale in enumerate(event.get("metrics", ()))
            )
            return next(filter(None, chain(scored, computed)), None)
        case _:
            return None


def _empty_scale(keys: tuple[str | int, ...], scale: Mapping[str, Any]) -> str | None:
    if scale["min"] < scale["max"]:
        return None
    return f"{json_path((*keys, 'max'))}: {scale['max']} is not more than min, {scale['min']}"


def _score_problem(scores: Mapping[str, Mapping[str, Any]]) -> str | None:
    for metric, entry in scores.items():
        empty, score = _empty_scale(("scores", metric), entry), entry["score"]
        if empty:
            return empty
        if score is not None and not entry["min"] <= score <= entry["max"]:
            bound = f"less than {entry['min']}" if score < entry["min"] else f"more than {entry['max']}"
            return f"{json_path(('scores', metric, 'score'))}: {score} is {bound}"
    return None


@cache
def _decider(name: str) -> Callable[[object], bool]:
    import jsonschema_rs

    return jsonschema_rs.validator_for(document(name), validate_formats=True).is_valid


@cache
def _explainer(name: str) -> Draft202012Validator:
    """Return a validator that agrees with `jsonschema-rs` on all that Python adds to JSON."""
    from jsonschema import Draft202012Validator, validators

    checker = Draft202012Validator.TYPE_CHECKER
    checker = checker.redefine("array", lambda _, value: isinstance(value, list | tuple))
    checker = checker.redefine("number", lambda _, value: _is_finite_number(value))
    validator = validators.extend(Draft202012Validator, {"pattern": _check_pattern}, type_checker=checker)  # type: ignore[no-untyped-call]  # as in problem_by
    explainer: Draft202012Validator = validator(document(name), format_checker=Draft202012Validator.FORMAT_CHECKER)
    return explainer


def _is_finite_number(value: object) -> bool:
    return math.isfinite(value) if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)


def _check_pattern(_: object, pattern: str, instance: object, __: Mapping[str, Any]) -> Iterator[ValidationError]:
    """Check `pattern` as JSON Schema means it: `$` is the end, not also before a last newline."""
    from jsonschema import ValidationError

    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"{instance!r} does not fit {pattern!r}")


def _most_relevant(name: str, instance: object) -> str:
    from jsonschema.exceptions import best_match

    error = best_match(_explainer(name).iter_errors(instance))
    if error is None:
        return f"$: not JSON that {name}.schema.json allows"
    problem = _explained(error)[0]
    misspelt = (each for each in problems(name, instance) if _misspelt(each) == problem)
    told = next(misspelt, problem)
    return f"{told.path}: {told.message}"


def _meant(error: ValidationError) -> list[ValidationError]:
    """Return the errors by the one of several forms that a value has; none if it could be several, or no form fits."""
    of_form: dict[str | int, list[ValidationError]] = {}
    for each in error.context or ():
        of_form.setdefault(each.relative_schema_path[0], []).append(each)
    likely = [
        found
        for found in of_form.values()
        if not any(each.validator in ("type", "const") and not each.path for each in found)
    ]
    return likely[0] if len(likely) == 1 else []


def _explained(error: ValidationError) -> list[Problem]:
    """Return what one error of jsonschema means: one problem for each key that is missing or unknown."""
    keys = tuple(error.absolute_path)
    instance: Any = error.instance
    schema: Any = error.schema
    if error.validator == "required":
        return [_problem(keys, f"{key!r} is missing") for key in schema["required"] if key not in instance]
    if error.validator == "oneOf" and (meant := _meant(error)):
        return [problem for each in meant for problem in _explained(each)]
    if error.validator == "additionalProperties":
        known = schema["properties"]
        unknown = [key for key in instance if key not in known]
        near = [key for key in known if key not in instance]
        return [
            _problem((*keys, key), f"unknown key {_shown(key)}{_belongs(key, known) or nearest.hint(key, near)}")
            for key in unknown
        ]
    if "propertyNames" in list(error.absolute_schema_path)[-3:-1]:  # with its rules, or with a $ref to them
        keys = (*keys, instance)
    return [_problem(keys, _message(str(error.validator), instance, schema) or error.message)]


def _belongs(key: str, known: Mapping[str, Any]) -> str:
    """Return the end of a message: the one known key under which this one may stand; nothing where there is none."""
    objects = {name: schema for name, schema in known.items() if isinstance(schema, dict)}
    sections = [name for name, schema in objects.items() if key in schema.get("properties", ())]
    return f"; it belongs under {sections[0]!r}" if len(sections) == 1 else ""


def _message(keyword: str, instance: object, schema: Mapping[str, Any]) -> str | None:
    template = _MESSAGES.get(keyword)
    return template and template.format(
        found=_shown(instance),
        wanted=_wanted(keyword, schema[keyword]),
        allowed=schema.get("description"),
        hint=nearest.hint(instance, schema[keyword]) if keyword == "enum" else "",
    )


def _wanted(keyword: str, value: Any) -> str:  # noqa: ANN401 - the value of any keyword
    match keyword:
        case "type":
            return " or ".join(_TYPES[name] for name in ([value] if isinstance(value, str) else value))
        case "enum":
            return ", ".join(_shown(option) for option in value)
        case "anyOf":
            return " or ".join(_shown(key) for branch in value for key in branch["required"])
        case "oneOf":
            forms = (_shown(form["const"]) if "const" in form else _wanted("type", form["type"]) for form in value)
            return " or ".join(forms)
        case "not":
            return str(value["description"])
        case _:
            return _shown(value)


def _problem(keys: tuple[Any, ...], message: str) -> Problem:
    return Problem(json_path(keys), message, keys)


def json_path(keys: Sequence[str | int]) -> str:
    """Return keys as JSONPath for people; a key that is no plain word is quoted, and of a long one the end left out."""
    told = (beginning_of(key, LONGEST_VALUE) if isinstance(key, str) else key for key in keys)
    return "$" + "".join(
        f".{key}" if isinstance(key, str) and key.replace("-", "_").isidentifier() else f"[{key!r}]" for key in told
    )


def _sortable(key: object) -> str:
    return f"{key:09}" if isinstance(key, int) else str(key)


def _shown(value: object) -> str:
    """Return a value as a message shows it, on one line and not too long."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    shown = repr(value)
    return beginning_of(shown, LONGEST_VALUE)
