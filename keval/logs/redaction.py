"""Takes the values of secrets out of an event, and leaves alone what keval itself put there.

A value may be a word that also stands in a field's name, a kind or an id. The event's schema says
which texts are of that sort: declared fields, constants, ids, hashes, times, and the names that the
config gives. So are the fields of the dataset: a golden answer is a word by which answers are
judged. All others may have come from anywhere, keys included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from keval import schema
from keval.ids import JsonObject
from keval.secrets.variables import Secrets

OWN = ("const", "enum", "pattern", "format")
"""Keywords of texts that keval writes; `#/$defs/id` is another."""

OWN_FIELDS = re.compile("sample|sample_fields|changed|condition|server|config_name|plan_id|git_commit|.*sha256")
"""Fields that hold what the dataset has, its fields' names, hashes, or names of the config, as written."""

NO_TEXT = {"number", "integer", "boolean", "null"}
"""Types of fields that keval counted or measured: a number there is no value that came back."""

NAMED = {"name", "type", "model"}
"""The fields by which an event names an agent or a judge, as written in the config."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a schema says of a value, as far as it matters here."""

    own: bool = False
    """Whether a value here is keval's own, or the dataset's."""
    fields: Mapping[str, _Shape] | None = None
    """Declared fields of an object; None for an object that may hold anything."""
    others: _Shape | None = None
    """The values of an object whose keys are names from the config."""
    items: _Shape | None = None


FREE = _Shape()


def redacted(event: JsonObject, secrets: Secrets) -> JsonObject:
    """Return an event with `${NAME}` in place of every value that `secrets` has handed out."""
    if secrets.is_empty:
        return event
    found: JsonObject = _redacted(event, _shape_of(event["type"]), secrets)
    return found


def _redacted(value: Any, shape: _Shape, secrets: Secrets) -> Any:  # noqa: ANN401 - any JSON value
    if shape.own:
        return value
    if isinstance(value, Mapping) and (shape.fields is not None or shape.others is not None):
        fields, others = shape.fields or {}, shape.others
        free = [key for key in value if key not in fields and not others]
        names = dict(zip(free, secrets.redact_keys(free), strict=True))
        return {
            names.get(key, key): _redacted(item, fields.get(key, others or FREE), secrets)
            for key, item in value.items()
        }
    if isinstance(value, list) and shape.items is not None:
        return [_redacted(item, shape.items, secrets) for item in value]
    return secrets.redact_value(value)


@cache
def _shape_of(event_type: str) -> _Shape:
    document = schema.document(event_type)
    return _shape(document, document["$defs"])


def _shape(rules: Mapping[str, Any], shared: Mapping[str, Any]) -> _Shape:
    reference = rules.get("$ref")
    if reference == "#/$defs/id" or any(keyword in rules for keyword in OWN):
        return _Shape(own=True)
    types = rules.get("type", [])
    if types and NO_TEXT.issuperset([types] if isinstance(types, str) else types):
        return _Shape(own=True)
    if reference is not None:
        return _shape(shared[reference.rpartition("/")[2].rpartition(":")[2]], shared)
    fields = {
        name: _Shape(own=True) if OWN_FIELDS.fullmatch(name) else _shape(rule, shared)
        for name, rule in rules.get("properties", {}).items()
    }
    if fields.keys() >= NAMED:
        fields |= dict.fromkeys(NAMED, _Shape(own=True))
    for branch in rules.get("allOf", ()):
        fields |= _shape(branch.get("then", {}), shared).fields or {}
    others = rules.get("additionalProperties")
    return _Shape(
        fields=fields or None,
        others=_shape(others, shared) if isinstance(others, dict) else None,
        items=_shape(rules["items"], shared) if "items" in rules else None,
    )
