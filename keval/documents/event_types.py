"""Compiles the schemas of events to types of msgspec, which decide about a line faster than a validator does.

A compiled type never accepts what its schema refuses. It may refuse what its schema accepts; who uses it asks
`keval.schema` then. So a rule that has no exact counterpart is made stricter, or its type of event is left out.
"""

from __future__ import annotations

from functools import reduce
from keyword import iskeyword
from operator import or_
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from keval import schema
from keval.documents.event_checks import (
    Fields,
    NotExpressibleError,
    Rules,
    checked,
    condition,
    expect,
    initializer,
    only,
    pattern_check,
    said,
    scale,
    test,
    text,
)
from keval.json_text import LARGEST_SIGNED_INT

_LARGEST = LARGEST_SIGNED_INT
"""The largest integer that is compared here; larger ones are another validator's business."""

_DEEPEST = 5
"""Levels of objects and arrays in a value that may be anything, such as a tool's input; a line may have more."""

_CONDITIONS = {"allOf", "anyOf", "if", "then", "else"}
"""Keywords that ask one thing of an object if it is another."""

_KEYWORDS = {
    "string": {"minLength", "maxLength", "pattern", "format"},
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "array": {"items", "minItems", "maxItems"},
    "object": {
        *("properties", "required", "additionalProperties", "propertyNames", "minProperties"),
        *_CONDITIONS,
    },
    "boolean": set(),
    "null": set(),
}
"""The keywords that are compiled, by the type that they say something of."""

_BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}


class _Type(NamedTuple):
    """A type, and what it leaves open: a Python expression about the value `{0}`."""

    type: Any
    check: str = ""


def event_types() -> Any:  # noqa: ANN401 - a union that is made here has no type of its own
    """Return one type for the events of all types whose schemas can be expressed."""
    found = []
    for name in schema.EVENT_TYPES:
        try:
            found.append(compiled(schema.document(name)))
        except NotExpressibleError:
            continue
    return reduce(or_, found)


def compiled(document: Rules) -> type[Struct]:
    """Return the type for a schema, which must be of an object and closed. Raises NotExpressibleError."""
    return _Compiler(document).type_of_document()


class _Compiler:
    """Compiles one schema."""

    def __init__(self, document: Rules) -> None:
        self._document = document
        self._defined = document.get("$defs", {})
        self._parts: dict[str, _Type] = {}
        self._begun: set[str] = set()
        self._matches: dict[str, Any] = {}

    def type_of_document(self) -> type[Struct]:
        """Return the type of the whole schema. Raises NotExpressibleError."""
        return self._closed(said(self._document))

    def _type(self, written: Rules) -> _Type:
        rules = said(written)
        if "$ref" in rules:
            return self._part(only(rules, "$ref"))
        if "const" in rules or "enum" in rules:
            return _Type(Literal[_literals(rules)])
        if not rules:
            return _Type(_anything(_DEEPEST))
        if "allOf" in rules and "additionalProperties" not in rules:
            return self._tagged(rules)
        kinds = [rules["type"]] if isinstance(rules.get("type"), str) else rules.get("type", [])
        expect(rules, {"type"}.union(*(_KEYWORDS[kind] for kind in kinds)))
        return _either([self._kind(kind, rules) for kind in kinds])

    def _part(self, reference: str) -> _Type:
        name = reference.removeprefix("#/$defs/")
        if name not in self._parts:
            if name in self._begun:
                raise NotExpressibleError(f"{name} holds itself")
            self._begun.add(name)
            self._parts[name] = self._type(self._defined[name])
        return self._parts[name]

    def _kind(self, kind: str, rules: Rules) -> _Type:  # noqa: PLR0911 - one for each type of JSON
        """Return the type for one of the types that a schema allows."""
        match kind:
            case "null":
                return _Type(None)
            case "boolean":
                return _Type(bool)
            case "string":
                return self._string(rules)
            case "integer":
                return _Type(_bounded(int, _integer_bounds(rules)))
            case "number":
                floats = {_BOUNDS[keyword]: float(rules[keyword]) for keyword in _BOUNDS if keyword in rules}
                return _Type(_bounded(int, _integer_bounds(rules)) | _bounded(float, floats))
            case "array":
                return self._array(rules)
            case _:
                return self._object(rules)

    def _unchecked(self, rules: Rules) -> Any:  # noqa: ANN401 - a type that is made here
        """Return the type of something that stands where no further check can be made."""
        compiled = self._type(rules)
        if compiled.check:
            raise NotExpressibleError(compiled.check)
        return compiled.type

    def _string(self, rules: Rules) -> _Type:
        lengths = Meta(min_length=rules.get("minLength"), max_length=rules.get("maxLength"))
        check = ""
        if "pattern" in rules or "format" in rules:
            name = f"match_{len(self._matches)}"
            self._matches[name], check = pattern_check(rules, name)
        return _Type(Annotated[str, lengths], check)

    def _array(self, rules: Rules) -> _Type:
        items: Any = list[self._unchecked(rules.get("items", {}))]  # type: ignore[misc] # it is made here
        return _Type(Annotated[items, Meta(min_length=rules.get("minItems"), max_length=rules.get("maxItems"))])

    def _object(self, rules: Rules) -> _Type:
        if rules.get("additionalProperties") is False:
            return _Type(self._closed(rules))
        if "properties" in rules or "required" in rules:
            return self._open(rules)
        expect(rules, {"type", "additionalProperties", "propertyNames", "minProperties"})
        keys = self._unchecked(rules.get("propertyNames", {"type": "string"}))
        mapping: Any = dict[keys, self._unchecked(rules.get("additionalProperties", {}))]  # type: ignore[misc,valid-type]  # a type of values
        return _Type(Annotated[mapping, Meta(min_length=rules.get("minProperties"))])

    def _open(self, rules: Rules) -> _Type:
        """Return the type of an object that may hold anything beside what is described."""
        expect(rules, {"type", "properties", "required"})
        described, required = rules.get("properties", {}), rules.get("required", ())
        if more := described.keys() - set(required):
            raise NotExpressibleError(", ".join(more))
        tests = ["(value := {0}) is not None", *(f"{key!r} in value" for key in required)]
        tests += [test(value, f"value[{key!r}]", self._defined) for key, value in described.items()]
        return _Type(dict[str, _anything(_DEEPEST - 1)], " and ".join(tests))  # type: ignore[misc] # it is made here

    def _tagged(self, rules: Rules) -> _Type:
        """Return the type of an object of one of several kinds, each with a schema for its own `type`."""
        expect(rules, {"type", "required", "properties", "allOf"})
        kinds = {}
        for branch in rules["allOf"]:
            expect(branch, {"if", "then"})
            condition = branch["if"]
            if condition != {"properties": {"type": {"const": (kind := _kind_of(condition))}}, "required": ["type"]}:
                raise NotExpressibleError(str(condition))
            kinds[kind] = self._unchecked(branch["then"])
        properties = {key: said(value) for key, value in rules["properties"].items()}
        tagged = all(issubclass(each, Struct) and each.__struct_config__.tag == kind for kind, each in kinds.items())
        if not tagged or properties != {"type": {"enum": list(kinds)}} or rules["required"] != ["type"]:
            raise NotExpressibleError("kinds of objects that their type does not tell")
        return _Type(reduce(or_, kinds.values()))

    def _closed(self, rules: Rules) -> type[Struct]:
        """Return the type of an object that holds what is described and nothing else."""
        expect(rules, {*("type", "properties", "required", "additionalProperties"), *_CONDITIONS})
        if rules.get("additionalProperties") is not False:
            raise NotExpressibleError("an object that is not closed")
        properties = dict(rules["properties"])
        required = frozenset(rules.get("required", ()))
        if not required <= properties.keys():
            raise NotExpressibleError(", ".join(required - properties.keys()))
        tag = said(properties.get("type", {})).get("const") if "type" in required else None
        if isinstance(tag, str):
            del properties["type"]
        types = {key: self._type(value) for key, value in properties.items()}
        checks = [checked(key, each.check, optional=key not in required) for key, each in types.items()]
        checks += [condition(rules, Fields(frozenset(properties), required, self._defined)), scale(required)]
        return msgspec.defstruct(
            "Object",
            [_field(key, each.type, optional=key not in required) for key, each in types.items()],
            namespace=initializer(" and ".join(filter(None, checks)), self._matches),
            tag_field="type" if isinstance(tag, str) else None,
            tag=tag if isinstance(tag, str) else None,
            kw_only=True,
            forbid_unknown_fields=True,
            gc=False,
        )


def _literals(rules: Rules) -> tuple[str | int, ...]:
    """Return the values of `const` or `enum`; of numbers those that are whole, as a line writes them."""
    expect(rules, {"const", "type"} if "const" in rules else {"enum", "type"})
    values = [rules["const"]] if "const" in rules else rules["enum"]
    texts = all(isinstance(value, str) for value in values) and rules.get("type", "string") == "string"
    numbers = all(type(value) is int for value in values) and rules.get("type", "integer") == "integer"
    if not texts and not numbers:
        raise NotExpressibleError(str(values))
    return tuple(values)


def _integer_bounds(rules: Rules) -> dict[str, int]:
    """Return the ends of a whole number for msgspec, which knows none beyond 64 bits."""
    bounds = {}
    for keyword, name in _BOUNDS.items():
        if keyword in rules:
            end = int(rules[keyword])
            if end != rules[keyword] or (end > _LARGEST if name in {"ge", "gt"} else end < -_LARGEST):
                raise NotExpressibleError(f"{keyword} {rules[keyword]}")
            bounds[name] = max(-_LARGEST, min(_LARGEST, end))
    if "gt" not in bounds:
        bounds.setdefault("ge", -_LARGEST)
    if "lt" not in bounds:
        bounds.setdefault("le", _LARGEST)
    return bounds


def _anything(levels: int) -> Any:  # noqa: ANN401 - the type is made here
    """Return the type of any JSON value that all readers read alike: of few levels, with numbers of 64 bits."""
    scalar = None | bool | str | float | _bounded(int, _integer_bounds({}))
    if not levels:
        return scalar
    inner: Any = _anything(levels - 1)  # each level doubles what msgspec makes of the type
    return scalar | list[inner] | dict[str, inner]


def _bounded(number: type, bounds: dict[str, Any]) -> Any:  # noqa: ANN401 - as `Annotated` gives it
    return Annotated[number, Meta(**bounds)]


def _either(types: list[_Type]) -> _Type:
    """Return the union of types."""
    checks = {each.check for each in types} - {""}
    if len(checks) > 1:
        raise NotExpressibleError(" or ".join(checks))
    check = next(iter(checks), "")
    nullable = any(each.type is None for each in types)
    check = f"({{0}} is None or {check})" if check and nullable else check
    return _Type(reduce(or_, (each.type for each in types)), check)


def _field(key: str, type_: Any, *, optional: bool) -> Any:  # noqa: ANN401 - as msgspec takes them
    """Return a field as `defstruct` takes it; one that may be absent is UNSET then."""
    if not key.isidentifier() or iskeyword(key) or key.startswith("_"):
        raise NotExpressibleError(key)
    return (key, type_ | UnsetType, UNSET) if optional else (key, type_)


def _kind_of(condition: Rules) -> str:
    return text(condition.get("properties", {}).get("type", {}).get("const"))
