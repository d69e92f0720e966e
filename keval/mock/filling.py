"""Fills a JSON Schema: the plainest value that is valid for it.

Knows what the Messages API's structured output and the tools of MCP servers use: `type`, `enum`,
`const`, `properties`, `required`, `items`, `prefixItems`, `anyOf`, `oneOf`, `allOf`, local `$ref`,
lengths, bounds and formats. Does not know `pattern`, `uniqueItems` and conditions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keval.ids import JsonObject

Path = tuple[str, ...]
"""Names of the properties from the root to a value; an item of an array has the empty name."""

DEEP = 4
"""From this depth on only what must be there is filled, so that a recursive schema ends."""

TOO_DEEP = 50
"""A schema that is not filled at this depth has no finite value."""

FORMATS = {
    "date": "2000-01-01",
    "date-time": "2000-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
"""A string of each format that the API accepts in a schema."""


class SchemaError(ValueError):
    """A schema has no finite value, or refers to something that it does not define."""


def no_choice(_path: Path, _schema: JsonObject) -> object:
    """Leave every value to the schema."""
    return None


@dataclass(frozen=True, slots=True)
class Filling:
    """Fills parts of one schema; `root` is where its `$ref`s point into."""

    root: JsonObject
    text: str = ""
    """What a string says when the schema leaves that open."""
    choose: Callable[[Path, JsonObject], object] = no_choice
    """Returns the value for a path and its schema, or None to leave it to the schema."""

    def value(self, schema: object, path: Path = ()) -> object:
        """Return a value that is valid for `schema`.

        Raises SchemaError.
        """
        if len(path) > TOO_DEEP:
            raise SchemaError("the schema is recursive without an end")
        rules = self.resolved(schema)
        chosen = self.choose(path, rules)
        if chosen is not None:
            return chosen
        if "const" in rules:
            return rules["const"]
        if rules.get("enum"):
            return rules["enum"][0]
        alternatives = rules.get("anyOf") or rules.get("oneOf")
        if alternatives:
            return self._alternative(alternatives, rules, path)
        return self._typed(rules, path)

    def resolved(self, schema: object) -> JsonObject:
        """Return a schema with its `$ref` and `allOf` merged into it."""
        rules: JsonObject = dict(schema) if isinstance(schema, Mapping) else {}
        for _ in range(TOO_DEEP):
            if "$ref" in rules:
                target = self._target(rules.pop("$ref"))
                rules = {**target, **rules}
            elif "allOf" in rules:
                rules = _merged([rules, *map(self.resolved, rules.pop("allOf"))])
            else:
                return rules
        raise SchemaError("a $ref of the schema leads back to itself")

    def _target(self, ref: str) -> JsonObject:
        target: Any = self.root
        try:
            for part in ref.removeprefix("#").strip("/").split("/") if ref != "#" else ():
                target = target[part.replace("~1", "/").replace("~0", "~")]
        except (KeyError, TypeError) as error:
            raise SchemaError(f"the schema has no {ref}") from error
        return dict(target)

    def _alternative(self, alternatives: list[JsonObject], rules: JsonObject, path: Path) -> object:
        if len(path) >= DEEP:
            alternatives = sorted(alternatives, key=lambda each: _type(self.resolved(each)) in {"array", "object"})
        common = {key: rule for key, rule in rules.items() if key not in {"anyOf", "oneOf"}}
        return self.value(_merged([common, self.resolved(alternatives[0])]), path)

    def _typed(self, rules: JsonObject, path: Path) -> object:
        kind = _type(rules)
        if kind == "object":
            return self._object(rules, path)
        if kind == "array":
            return self._array(rules, path)
        if kind == "string":
            return _string(rules, self.text)
        if kind in {"integer", "number"}:
            return _number(rules, whole=kind == "integer")
        return False if kind == "boolean" else None

    def _object(self, rules: JsonObject, path: Path) -> JsonObject:
        properties = rules.get("properties", {})
        required = rules.get("required", [])
        names = [*properties, *required] if len(path) < DEEP else required
        extra = rules.get("additionalProperties", {})
        return {name: self.value(properties.get(name, extra), (*path, name)) for name in dict.fromkeys(names)}

    def _array(self, rules: JsonObject, path: Path) -> list[object]:
        first = rules.get("prefixItems", [])
        more = max(0, rules.get("minItems", 0) - len(first))
        schemas = [*first, *[rules.get("items", {})] * more]
        return [self.value(schema, (*path, "")) for schema in schemas]


def _merged(schemas: list[JsonObject]) -> JsonObject:
    """Return one schema with the rules of all; of two rules of one name the later holds."""
    merged: JsonObject = {}
    for schema in schemas:
        merged |= schema | {
            "properties": {**merged.get("properties", {}), **schema.get("properties", {})},
            "required": [*merged.get("required", []), *schema.get("required", [])],
        }
    return {key: rule for key, rule in merged.items() if key not in {"properties", "required"} or rule}


def _type(rules: JsonObject) -> str:
    declared = rules.get("type")
    if isinstance(declared, list):
        return next((name for name in declared if name != "null"), "null")
    if declared is None:
        return "object" if "properties" in rules else "array" if "items" in rules else "string"
    return str(declared)


def _string(rules: JsonObject, text: str) -> str:
    if rules.get("format") in FORMATS:
        return FORMATS[rules["format"]]
    return text[: rules.get("maxLength")].ljust(rules.get("minLength", 0), ".")


def _number(rules: JsonObject, *, whole: bool) -> float:
    """Return the valid number next to 0 among the bounds, the steps around them, and the middle between them."""
    low, above = rules.get("minimum", -math.inf), rules.get("exclusiveMinimum", -math.inf)
    high, below = rules.get("maximum", math.inf), rules.get("exclusiveMaximum", math.inf)
    step = rules.get("multipleOf", 1)
    bounds = [bound for bound in (max(low, above), min(high, below)) if math.isfinite(bound)]
    candidates = [0, *((math.floor(bound / step) + more) * step for bound in bounds for more in (-1, 0, 1, 2))]
    if not whole and "multipleOf" not in rules:
        candidates += [*bounds, sum(bounds) / 2]
    fitting = [each for each in candidates if low <= each <= high and above < each < below]
    number = min(fitting, key=abs, default=0)
    return int(number) if whole else number
