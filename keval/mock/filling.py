"""Fills a JSON Schema: the plainest value that is valid for it.

Knows what the Messages API's structured output and the tools of MCP servers use: `type`, `enum`,
`const`, `properties`, `required`, `items`, `prefixItems`, `anyOf`, `oneOf`, `allOf`, local `$ref`,
lengths, bounds and formats. Does not know `pattern`, `uniqueItems` and conditions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from keval.ids import JsonObject

Path = tuple[str, ...]
"""Names of the properties from the root to a value; an item of an array has the empty name."""

DEEP = 4
"""From this depth on only what must be there is filled, so that a recursive schema ends."""

TOO_DEEP = 50
"""A schema that is not filled at this depth has no finite value."""

MOST_STEPS = 100_000
"""Schemas that are looked at for one value; a few lines that refer to each other can stand for many more."""

LONGEST = 10_000
"""Characters or items that a schema may ask for."""

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


_IS_SCHEMA = jsonschema_rs.validator_for({"$ref": "https://json-schema.org/draft/2020-12/schema"})


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
    _steps: Iterator[int] = field(default_factory=lambda: iter(range(MOST_STEPS)))

    def value(self, schema: object, path: Path = (), alternatives: int = 0) -> object:
        """Return a value that is valid for `schema`, which may be one of the `alternatives` to others around it.

        Raises SchemaError.
        """
        if len(path) + alternatives > TOO_DEEP:
            raise SchemaError("the schema is recursive without an end")
        rules = self.resolved(schema)
        chosen = self.choose(path, rules)
        if chosen is not None:
            return chosen
        if "const" in rules:
            return rules["const"]
        if rules.get("enum"):
            return rules["enum"][0]
        offered = rules.get("anyOf") or rules.get("oneOf")
        if offered:
            return self.value(self._alternative(offered, rules, path), path, alternatives + 1)
        return self._typed(rules, path)

    def resolved(self, schema: object, depth: int = 0) -> JsonObject:
        """Return a schema with its `$ref` and `allOf` merged into it. Raises SchemaError."""
        if depth > TOO_DEEP or next(self._steps, None) is None:
            raise SchemaError("the schema is recursive without an end")
        rules: JsonObject = dict(schema) if isinstance(schema, Mapping) else {}
        for _ in range(TOO_DEEP):
            if "$ref" in rules:
                target = self._target(rules.pop("$ref"))
                rules = {**target, **rules}
            elif "allOf" in rules:
                rules = _merged([rules, *(self.resolved(each, depth + 1) for each in rules.pop("allOf"))])
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
        if not _IS_SCHEMA.is_valid(target):
            raise SchemaError(f"{ref} is no schema")
        return dict(target) if isinstance(target, Mapping) else {}

    def _alternative(self, offered: list[JsonObject], rules: JsonObject, path: Path) -> JsonObject:
        """Return a schema with one of those that it offers merged into it."""
        if len(path) >= DEEP:
            offered = sorted(offered, key=lambda each: _type(self.resolved(each)) in {"array", "object"})
        common = {key: rule for key, rule in rules.items() if key not in {"anyOf", "oneOf"}}
        return _merged([common, self.resolved(offered[0])])

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
        more = max(0, _length(rules, "minItems") - len(first))
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
    longest = rules.get("maxLength")
    return text[: None if longest is None else int(longest)].ljust(_length(rules, "minLength"), ".")


def _length(rules: JsonObject, rule: str) -> int:
    """Return how long a value has to be, which a schema may write as 5.0. Raises SchemaError."""
    length = int(rules.get(rule, 0))
    if length > LONGEST:
        raise SchemaError(f"{rule} is {length}: the stand-in fills at most {LONGEST}")
    return length


def _number(rules: JsonObject, *, whole: bool) -> float:
    """Return the valid number next to 0 among the bounds, the steps around them, and the middle between them."""
    low, above = rules.get("minimum", -math.inf), rules.get("exclusiveMinimum", -math.inf)
    high, below = rules.get("maximum", math.inf), rules.get("exclusiveMaximum", math.inf)
    step = rules.get("multipleOf", 1)
    bounds = [bound for bound in (max(low, above), min(high, below)) if math.isfinite(bound)]
    steps = [math.floor(bound / step) for bound in bounds if math.isfinite(bound / step)]
    candidates = [0, *((number + more) * step for number in steps for more in (-1, 0, 1, 2))]
    if not whole and "multipleOf" not in rules:
        candidates += [*bounds, sum(bounds) / 2]
    fitting = [each for each in candidates if low <= each <= high and above < each < below]
    number = min(fitting, key=abs, default=0)
    return int(number) if whole else number
