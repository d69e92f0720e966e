"""Chooses which tool the stand-in calls and with which input, so that a mock run shows that each MCP server works.

One tool of each server is called per question: one that is marked as read-only before others, then one that looks like
a search, never one that is marked as destructive or whose name says so. Of tools that are no server's only a search is
called, or the only one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NoReturn

import jsonschema_rs

from keval.ids import JsonObject
from keval.mock.filling import Filling, SchemaError

Marks = Mapping[str, Mapping[str, bool]]
"""What servers say of their tools, by the tools' full names: `read_only` and `destructive`, where they say it."""

_SERVER = re.compile(r"mcp__(.+?)__")
_SEARCH_NAME = re.compile(r"search|find|lookup|look_up|query|retrieve", re.IGNORECASE)
_SEARCH_DESCRIPTION = re.compile(r"\b(search|find|look(s|ing)? ?up|quer(y|ies)|retriev)", re.IGNORECASE)
_DESTRUCTIVE_NAME = re.compile(r"delete|remove|drop|destroy|reset|purge|truncate|overwrite|kill", re.IGNORECASE)
_QUERY_NAME = re.compile(r"query|question|search|text|^q$", re.IGNORECASE)
_EXAMPLE = re.compile(r"e\.g\.,?:? ?[`'\"]([^`'\"]+)[`'\"]")


def tool_to_call(request: JsonObject, called: Collection[str], marks: Marks) -> JsonObject | None:
    """Return the tool that the request forces, else the best one of a server of which none was `called`, or None."""
    tools = [tool for tool in request.get("tools") or [] if isinstance(tool.get("input_schema"), dict)]
    choice = request.get("tool_choice") or {}
    if choice.get("type") == "none":
        return None
    forced = [tool for tool in tools if choice.get("type") == "tool" and tool["name"] == choice.get("name")]
    must = choice.get("type") == "any"
    candidates = [] if called and forced else forced or _candidates(tools, called, marks, must=must and not called)
    return candidates[0] if candidates else None


def _candidates(tools: list[JsonObject], called: Collection[str], marks: Marks, *, must: bool) -> list[JsonObject]:
    """Return what may be called now, the best first; if something `must` be called, anything else comes last."""
    done = {_server(name) for name in called}
    of_servers = [tool for tool in tools if _server(tool["name"]) not in {None, *done} and _is_harmless(tool, marks)]
    others = [] if called else [tool for tool in tools if _server(tool["name"]) is None]
    searches = [tool for tool in others if _looks_like_search(tool) < _NO_SEARCH or len(tools) == 1]
    fitting = [tool for tool in searches if _input_is_valid(tool)]
    ranked = sorted(
        [*of_servers, *fitting], key=lambda tool: (not _mark(marks, tool, "read_only"), _looks_like_search(tool))
    )
    return [*ranked, *(tools if must else [])]


def _server(name: str) -> str | None:
    found = _SERVER.match(name)
    return found[1] if found else None


def _mark(marks: Marks, tool: JsonObject, mark: str) -> bool:
    return marks.get(tool["name"], {}).get(mark, False)


def _is_harmless(tool: JsonObject, marks: Marks) -> bool:
    """Return whether a tool may be called by chance, and with an input that its schema allows."""
    if _mark(marks, tool, "read_only"):
        return _input_is_valid(tool)
    name = tool["name"].rsplit("__", 1)[-1]
    return not _mark(marks, tool, "destructive") and not _DESTRUCTIVE_NAME.search(name) and _input_is_valid(tool)


def _input_is_valid(tool: JsonObject) -> bool:
    """Return whether the input that a tool would be called with is one that its schema allows, as far as it is clear.

    It is not clear what a schema of an unknown kind allows, or one with a pattern that is none.
    """
    try:
        filled = tool_input(tool["input_schema"], "any question")
        return jsonschema_rs.is_valid(tool["input_schema"], filled, retriever=_not_retrieved)
    except (SchemaError, ValueError, jsonschema_rs.ReferencingError):
        return False


def _not_retrieved(address: str) -> NoReturn:
    """Refuse what a schema has elsewhere: the stand-in asks nobody."""
    raise ValueError(f"{address} is not asked for")


_NO_SEARCH = 2


def _looks_like_search(tool: JsonObject) -> int:
    """Return 0 where the name says that it is a search, 1 where the description does, else 2."""
    if _SEARCH_NAME.search(tool["name"].rsplit("__", 1)[-1]):
        return 0
    return 1 if _SEARCH_DESCRIPTION.search(tool.get("description") or "") else _NO_SEARCH


def tool_input(schema: JsonObject, question: str) -> JsonObject:
    """Return an input with the question in its first required string, or else in its first string.

    A string that has a default, or an example in its schema or description, has that. Raises SchemaError for a schema
    that has no value.
    """
    filling = Filling(schema, choose=_example)
    rules = filling.resolved(schema)
    properties, required = rules.get("properties", {}), rules.get("required", [])
    strings = [name for name in properties if _is_free_string(filling.resolved(properties[name]))]
    for_question = [name for name in required if name in strings] or strings
    queries = [name for name in for_question if _QUERY_NAME.search(name)] or for_question
    filled = {name: filling.value(properties.get(name, {}), (name,)) for name in required}
    return filled | {name: Filling(schema, question).value(properties[name], (name,)) for name in queries[:1]}


def _is_free_string(rules: JsonObject) -> bool:
    first = (rules.get("anyOf") or [rules])[0]
    if not isinstance(first, Mapping):  # true, which allows anything
        return False
    is_string = first.get("type") in ("string", ["string", "null"])
    return is_string and not {"enum", "const", "format"} & set(first) and _example((), rules) is None


def _example(_path: Iterable[str], rules: JsonObject) -> object:
    """Return the value that a schema itself gives as an example, or None."""
    given = [rules.get("default"), *(rules.get("examples") or [])]
    named = _EXAMPLE.search(str(rules.get("description") or "")) if rules.get("type") == "string" else None
    return next((each for each in [*given, named and named[1]] if each is not None), None)
