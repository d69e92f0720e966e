"""Filled schemas are valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import jsonschema
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.mock import Mock
from keval.mock.filling import FORMATS, Filling, SchemaError

Schema = dict[str, Any]


def filled(schema: Schema, text: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Return the value for a whole schema."""
    return Filling(schema, text).value(schema)


def bounds(low: str, high: str, kind: str) -> st.SearchStrategy[Schema]:
    """Draw a number's bounds, at least two apart so that some number fits."""
    number = st.integers(-20, 20)
    return st.builds(
        lambda start, length, keys: {"type": kind, **{k: {low: start, high: start + length}[k] for k in keys}},
        number,
        st.integers(2, 9),
        st.sets(st.sampled_from([low, high])),
    )


TEXT = st.builds(
    lambda low, more, keys: {"type": "string", **{k: {"minLength": low, "maxLength": low + more}[k] for k in keys}},
    st.integers(0, 5),
    st.integers(0, 5),
    st.sets(st.sampled_from(["minLength", "maxLength"])),
)
INTEGERS = st.integers(-(2**53), 2**53)
LEAVES: st.SearchStrategy[Schema] = st.one_of(
    TEXT,
    bounds("minimum", "maximum", "integer"),
    bounds("exclusiveMinimum", "exclusiveMaximum", "integer"),
    bounds("minimum", "exclusiveMaximum", "number"),
    bounds("exclusiveMinimum", "maximum", "number"),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": ["integer", "null"]}, {}, {"$ref": "#/$defs/x"}]),
    st.sampled_from([{"type": "integer", "minimum": 5, "multipleOf": 4}, {"type": "number", "exclusiveMaximum": -1}]),
    st.sampled_from(sorted(FORMATS)).map(lambda name: {"type": "string", "format": name}),
    st.lists(INTEGERS | st.text("ab") | st.booleans(), min_size=1, max_size=3).map(lambda values: {"enum": values}),
    INTEGERS.map(lambda value: {"const": value}),
)


def objects(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    """Draw an object like those of structured output: all required, nothing else allowed."""
    return st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4).map(
        lambda properties: {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    )


def compounds(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    """Draw a schema that holds others."""
    return st.one_of(
        objects(inner),
        st.builds(lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, st.integers(0, 3)),
        st.builds(
            lambda first, rest: {"type": "array", "prefixItems": first, "items": rest},
            st.lists(inner, min_size=1),
            inner,
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda alternatives: {"anyOf": alternatives}),
        inner.map(lambda schema: {"allOf": [schema], "description": "one more"}),
    )


SCHEMAS = objects(st.recursive(LEAVES, compounds, max_leaves=8)).map(
    lambda schema: schema | {"$defs": {"x": {"type": "integer", "minimum": 3}}}
)


@given(SCHEMAS, st.text(max_size=20))
def test_a_filled_schema_is_valid(schema: Schema, text: str) -> None:
    """Whatever the schema and the text, the checker finds nothing to object to."""
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    checker.validate(filled(schema, text))


@pytest.fixture(scope="module")
def client() -> Iterator[anthropic.Anthropic]:
    """Connect the real SDK to a mock."""
    with Mock() as mock, anthropic.Anthropic(base_url=mock.base_url, api_key="k", max_retries=0) as sdk:
        yield sdk


@given(SCHEMAS)
def test_structured_output_is_valid(client: anthropic.Anthropic, schema: Schema) -> None:
    """The same through the SDK: the reply's text is JSON that is valid for the schema asked for."""
    message = client.messages.create(
        model="claude-opus-5",
        max_tokens=10_000,
        messages=[{"role": "user", "content": "Fill this."}],
        output_config={"format": {"type": "json_schema", "schema": schema}},
    )
    assert message.content[0].type == "text"
    jsonschema.Draft202012Validator(schema).validate(orjson.loads(message.content[0].text))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 5}, 1),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "number", "minimum": 0.25}, 0.25),
        ({"type": "integer", "minimum": 7, "multipleOf": 5}, 10),
        ({"type": "string", "maxLength": 4}, "some"),
        ({"type": "string", "minLength": 11}, "some text.."),
        ({"enum": ["high", "low"]}, "high"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"properties": {"a": {"type": "boolean"}}}, {"a": False}),
        ({"allOf": [{"properties": {"a": {}}}, {"required": ["b"]}]}, {"a": "some text", "b": "some text"}),
    ],
)
def test_the_plainest_value_is_taken(schema: Schema, value: object) -> None:
    """The number next to 0, the first of an enum, the text as far as it fits."""
    assert filled(schema, "some text") == value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#/$defs/any", "$defs": {"any": True}}, "some text"),
        ({"anyOf": [True, {"type": "integer"}]}, "some text"),
        ({"type": "number", "maximum": 1e308, "multipleOf": 1e-10}, 0),
        ({"type": "string", "minLength": 11.0, "maxLength": 12.0}, "some text.."),
        ({"type": "array", "items": True, "minItems": 2.0}, ["some text", "some text"]),
    ],
)
def test_an_unusual_schema_is_filled(schema: Schema, value: object) -> None:
    """Whatever a server may write: `true` for a schema, 5.0 for a length, steps that no number is divided by."""
    assert filled(schema, "some text") == value


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}]},
        {"$ref": "#/default", "default": {"type": 5}},
        {"type": "string", "minLength": 10**12},
        {"type": "array", "items": {}, "minItems": 10**12},
        {
            "$ref": "#/$defs/0",
            "$defs": {str(n): {"required": ["a", "b"], "properties": {"a": {"$ref": f"#/$defs/{n + 1}"},
            "b": {"$ref": f"#/$defs/{n + 1}"}}} for n in range(40)} | {"40": {}},
        },
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_filled_is_told(schema: Schema) -> None:
    """One that leads back to itself, means more than fits into memory, or names what is no schema."""
    with pytest.raises(SchemaError):
        filled(schema)


def test_a_recursive_schema_ends() -> None:
    """A tree is filled to a small depth; deep down what may be absent is absent."""
    node = {"type": "object", "required": ["left"], "properties": {}}
    node["properties"] = {"left": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}, "more": {"$ref": "#"}}
    schema: Schema = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    jsonschema.Draft202012Validator(schema).validate(filled(schema))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"again": {"$ref": "#"}}, "required": ["again"]},
        {"$ref": "#/$defs/loop", "$defs": {"loop": {"$ref": "#/$defs/loop"}}},
        {"$ref": "#/$defs/absent"},
        {"$ref": "https://example.com/elsewhere.json"},
    ],
)
def test_a_schema_without_a_value_is_an_error(schema: Schema) -> None:
    """It has no finite value, or refers to what is not there."""
    with pytest.raises(SchemaError):
        filled(schema)
