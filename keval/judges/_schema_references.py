"""Checks what a user's JSON Schema refers to, when it is read: else each answer would find out anew, or never end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

REFERENCES = ("$ref", "$dynamicRef")

SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas check the same value as theirs; those of others check a part of it, and so come to an end."""


def reference_problem(schema: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the references of a schema, None if they lead to its own parts and not in a circle."""
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    whole = DRAFT202012.create_resource(schema)
    registry: Registry[Any] = Registry().with_resource(whole.id() or "", whole)
    waiting = [(whole, registry.resolver(base_uri=whole.id() or ""))]
    leads_to: dict[int, list[int]] = {}
    references: dict[int, str] = {}
    while waiting:
        part, resolver = waiting.pop()
        place = id(part.contents)
        if place in leads_to:
            continue
        leads_to[place] = [id(each) for each in _of_same_value(part.contents)]
        waiting += [(each, resolver.in_subresource(each)) for each in part.subresources()]
        for reference in _references(part.contents):
            if not reference.startswith("#"):
                return f"refers to {reference!r}; it may refer to its own parts only (#/$defs/…)"
            try:
                target = resolver.lookup(reference)
            except Unresolvable:
                return f"refers to {reference!r}, which is not in it"
            references[place] = reference
            leads_to[place].append(id(target.contents))
            waiting.append((DRAFT202012.create_resource(target.contents), target.resolver))
    circle = next((reference for place, reference in references.items() if _leads_back(place, leads_to)), None)
    return None if circle is None else f"refers to {circle!r} in a circle: to check a value, it has to be checked first"


def _references(schema: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    found = [schema.get(keyword) for keyword in REFERENCES] if isinstance(schema, Mapping) else []
    return [reference for reference in found if isinstance(reference, str)]


def _of_same_value(schema: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    for keyword in SAME_VALUE if isinstance(schema, Mapping) else ():
        value = schema.get(keyword)
        if isinstance(value, list):
            yield from value
        elif keyword == "dependentSchemas" and isinstance(value, Mapping):
            yield from value.values()
        elif value is not None:
            yield value


def _leads_back(place: int, leads_to: Mapping[int, list[int]]) -> bool:
    seen: set[int] = set()
    waiting = list(leads_to[place])
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += leads_to.get(each, [])
    return place in seen
