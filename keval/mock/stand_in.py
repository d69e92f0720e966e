"""The stand-in for a model: a deterministic function of the request, with no knowledge of its own.

Offered a search-like tool it calls it with the question, and answers with the sentences of the
result that fit best. Asked for structured output it fills the schema; asked to judge, by word
overlap. Else it says that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import orjson

from keval.ids import JsonObject, digest
from keval.mock import conversation, judging
from keval.mock.conversation import Conversation, ToolResult
from keval.mock.filling import Filling
from keval.mock.words import content_words, excerpt, shortened

CHARACTERS_PER_TOKEN = 4
"""A common estimate for English; the stand-in counts tokens by it."""

Kind = Literal["tool_call", "from_tool", "structured", "judgment", "no_information"]
"""What a reply is: a call, an answer from a tool's result, a filled schema, a judgment, or a shrug."""

_SEARCH_NAME = re.compile(r"search|find|lookup|look_up|query|retrieve", re.IGNORECASE)
_SEARCH_DESCRIPTION = re.compile(r"\b(search|find|look(s|ing)? ?up|quer(y|ies)|retriev)", re.IGNORECASE)
_QUERY_NAME = re.compile(r"query|question|search|text|^q$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the stand-in says to one request."""

    kind: Kind
    block: JsonObject
    """The one content block."""
    stop_reason: Literal["end_turn", "tool_use", "max_tokens"]


def reply(request: JsonObject) -> Reply:
    """Return the reply to the body of a `POST /v1/messages`.

    Raises SchemaError for a schema that has no value.
    """
    asked = conversation.read(request)
    tool = None if asked.tool_results else _tool_to_call(request)
    if tool is not None:
        return Reply("tool_call", _call(tool, asked.question, request), "tool_use")
    schema = _output_schema(request)
    if schema is None:
        kind, text = _answer(asked)
    else:
        kind, text = _structured(asked, schema)
    return _limited(kind, text, request["max_tokens"])


def tokens(value: object) -> int:
    """Return the estimated number of tokens of a text or of a value's JSON, at least 1."""
    length = len(value) if isinstance(value, str) else len(orjson.dumps(value))
    return max(1, length // CHARACTERS_PER_TOKEN)


def input_tokens(request: JsonObject) -> int:
    """Return the estimated number of tokens that a request puts in."""
    return tokens([request.get(part) for part in ("system", "tools", "messages") if request.get(part)])


def _tool_to_call(request: JsonObject) -> JsonObject | None:
    """Return the tool that the request forces, else a search-like one, else the only one."""
    tools = [tool for tool in request.get("tools") or [] if isinstance(tool.get("input_schema"), dict)]
    choice = request.get("tool_choice") or {}
    forced = [tool for tool in tools if choice.get("type") == "tool" and tool["name"] == choice.get("name")]
    named = [tool for tool in tools if _SEARCH_NAME.search(tool["name"].rsplit("__", 1)[-1])]
    described = [tool for tool in tools if _SEARCH_DESCRIPTION.search(tool.get("description") or "")]
    any_of = tools if len(tools) == 1 or choice.get("type") == "any" else []
    candidates = [*forced, *named, *described, *any_of]
    return candidates[0] if candidates and choice.get("type") != "none" else None


def _call(tool: JsonObject, question: str, request: JsonObject) -> JsonObject:
    return {
        "type": "tool_use",
        "id": f"toolu_{digest('tool_use', tool['name'], request['messages'])}",
        "name": tool["name"],
        "input": _tool_input(tool["input_schema"], question),
    }


def _tool_input(schema: JsonObject, question: str) -> JsonObject:
    """Return an input with the question in its first required string, or else in its first string."""
    filling = Filling(schema)
    rules = filling.resolved(schema)
    properties, required = rules.get("properties", {}), rules.get("required", [])
    strings = [name for name in properties if _is_free_string(filling.resolved(properties[name]))]
    for_question = [name for name in required if name in strings] or strings
    queries = [name for name in for_question if _QUERY_NAME.search(name)] or for_question
    filled = {name: filling.value(properties.get(name, {}), (name,)) for name in required}
    return filled | {name: Filling(schema, question).value(properties[name], (name,)) for name in queries[:1]}


def _is_free_string(rules: JsonObject) -> bool:
    first = (rules.get("anyOf") or [rules])[0]
    return first.get("type") in ("string", ["string", "null"]) and not {"enum", "const", "format"} & set(first)


def _output_schema(request: JsonObject) -> JsonObject | None:
    wanted = (request.get("output_config") or {}).get("format") or {}
    return wanted.get("schema") if wanted.get("type") == "json_schema" else None


def _structured(asked: Conversation, schema: JsonObject) -> tuple[Kind, str]:
    compared = judging.to_compare(asked.user_text)
    if compared is None:
        return "structured", _json(Filling(schema, _answer(asked)[1]).value(schema))
    return "judgment", _json(Filling(schema, compared.reasoning, compared.choose).value(schema))


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _answer(asked: Conversation) -> tuple[Kind, str]:
    about = ", ".join(content_words(asked.question)[:5]) or "that"
    if not asked.tool_results:
        return "no_information", f"I am sorry, but I have no information about {about}."
    return "from_tool", _from_tools(asked.question, about, asked.tool_results)


def _from_tools(question: str, about: str, results: Sequence[ToolResult]) -> str:
    found = "\n\n".join(result.text for result in results if not result.error)
    if found.strip():
        return excerpt(question, found)
    if any(result.error for result in results):
        said = " ".join(result.text for result in results)
        return f"I cannot answer, because the tool reported an error: {shortened(said, 200)}"
    return f"The tool found nothing about {about}."


def _limited(kind: Kind, text: str, max_tokens: int) -> Reply:
    """Return the text as far as `max_tokens` allows, like a model that is cut off there."""
    if tokens(text) <= max_tokens:
        return Reply(kind, {"type": "text", "text": text}, "end_turn")
    return Reply(kind, {"type": "text", "text": text[: max_tokens * CHARACTERS_PER_TOKEN]}, "max_tokens")
