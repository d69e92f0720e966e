from typing import Any

import pytest

from keval.judges._schema_references import reference_problem

A: dict[str, Any] = {"$ref": "#/$defs/a"}
TREE = {"type": "object", "properties": {"children": {"type": "array", "items": A}}}


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({**A, "$defs": {"a": TREE}}, None),
        ({"properties": {"$ref": {"type": "string"}}, "enum": [{"$ref": "#/nowhere"}]}, None),
        ({"$id": "https://example.com/x", **A, "$defs": {"a": True}}, None),
        ({"$ref": "#part", "$defs": {"a": {"$anchor": "part"}}}, None),
        ({"items": {"anyOf": [A]}}, "refers to '#/$defs/a', which is not in it"),
        ({"items": {"$ref": "other.json"}}, "refers to 'other.json'; it may refer to its own parts only (#/$defs/…)"),
        ({"properties": {"x": A}, "$defs": {"a": A}}, "refers to '#/$defs/a' in a circle"),
        ({"$defs": {"a": {"allOf": [{"not": A}]}}}, "refers to '#/$defs/a' in a circle"),
        ({"$defs": {"a": {"dependentSchemas": {"x": {"$ref": "#/$defs/b"}}}, "b": A}}, "in a circle"),
    ],
)
def test_references_lead_to_parts_of_the_schema_and_not_in_a_circle(
    schema: dict[str, Any], problem: str | None
) -> None:
    """A circle through a part of the value, as in a tree, is none."""
    found = reference_problem(schema)
    assert found is None if problem is None else problem in (found or "")
