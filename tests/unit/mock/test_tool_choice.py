"""Which tools the stand-in calls in a mock run, and with what."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from keval.mock.tool_choice import Marks, tool_input, tool_to_call

NONE: Marks = {}


def tool(name: str, **properties: Any) -> dict[str, Any]:  # noqa: ANN401 - rules of a property
    """Return a tool all of whose properties are required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": "", "input_schema": schema}


def calls(tools: list[dict[str, Any]], marks: Marks = NONE) -> list[str]:
    """Return the tools that are called one after another for one question."""
    called: list[str] = []
    while chosen := tool_to_call({"tools": tools}, called, marks):
        called.append(chosen["name"])
    return called


def test_one_tool_of_each_server_is_called() -> None:
    """Whatever the tools look like, and a search first: so a mock run shows that every server answers."""
    tools = [tool("mcp__time__now"), tool("mcp__time__convert"), tool("mcp__docs__list"), tool("mcp__docs__search")]
    assert calls(tools) == ["mcp__docs__search", "mcp__time__now"]


def test_a_read_only_tool_is_called_before_a_search() -> None:
    """What the server says of its tools counts more than what their names say."""
    tools = [tool("mcp__s__search"), tool("mcp__s__status")]
    assert calls(tools, {"mcp__s__status": {"read_only": True}}) == ["mcp__s__status"]


@pytest.mark.parametrize("name", ["delete_page", "dropTable", "git_reset", "pages_remove"])
def test_nothing_is_destroyed(name: str) -> None:
    """A tool that is marked as destructive, or whose name says so, is called only if it is marked as read-only."""
    assert calls([tool(f"mcp__s__{name}")]) == []
    assert calls([tool("mcp__s__apply")], {"mcp__s__apply": {"destructive": True}}) == []
    assert calls([tool(f"mcp__s__{name}")], {f"mcp__s__{name}": {"read_only": True}}) == [f"mcp__s__{name}"]


def test_a_tool_is_called_with_what_its_schema_allows() -> None:
    """A tool whose schema cannot be satisfied is passed over for another of its server."""
    odd = tool("mcp__s__search", code={"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"})
    assert calls([odd, tool("mcp__s__list")]) == ["mcp__s__list"]
    assert calls([odd]) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "https://example.com/my-schema"},
        {"properties": {"a": {"pattern": "("}}},
        {"allOf": [{"$ref": "#"}]},
        {"properties": {"a": {"items": {"$ref": "https://example.com/a.json"}}}},
    ],
)
def test_a_tool_with_an_unclear_schema_is_not_called(schema: dict[str, Any]) -> None:
    """Whether an input fits is asked of nobody elsewhere; such a tool is passed over, be it a server's or not."""
    for name in ("mcp__s__search", "search"):
        odd = {"name": name, "input_schema": {"type": "object", **schema}}
        assert calls([odd]) == []


def test_a_tool_that_takes_anything_is_called() -> None:
    """A schema may be `true`, alone or among others."""
    searching = tool("mcp__s__search", any={"$ref": "#/$defs/any"}, other={"anyOf": [True, {"type": "null"}]})
    searching["input_schema"]["$defs"] = {"any": True}
    assert calls([searching]) == ["mcp__s__search"]


@pytest.mark.parametrize(
    ("rules", "value"),
    [
        ({"type": "string", "description": "IANA name (e.g., 'Europe/London', 'Asia/Tokyo')"}, "Europe/London"),
        ({"type": "string", "default": "UTC"}, "UTC"),
        ({"type": "string", "examples": ["HEAD"]}, "HEAD"),
        ({"type": "integer", "default": 3}, 3),
    ],
)
def test_a_schemas_own_example_is_taken(rules: dict[str, Any], value: object) -> None:
    """A default or an example says better than the question what fits."""
    schema = tool("t", place=rules)["input_schema"]
    assert tool_input(schema, "What time is it?") == {"place": value}
    assert jsonschema_rs.is_valid(schema, {"place": value})
