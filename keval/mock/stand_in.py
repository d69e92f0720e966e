"""The stand-in for a model: a deterministic function of the request, with no knowledge of its own.

Offered tools it calls one of each MCP server (see `tool_choice`), and answers with the sentences of the
results that fit the question best. Asked for structured output it fills the schema; asked to judge, by word
overlap. Else it says that it does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import orjson

from keval.ids import JsonObject, digest
from keval.mock import conversation, judging
from keval.mock.conversation import Conversation, ToolResult
from keval.mock.filling import Filling
from keval.mock.tool_choice import Marks, tool_input, tool_to_call
from keval.mock.words import content_words, excerpt, shortened

CHARACTERS_PER_TOKEN = 4
"""A common estimate for English; the stand-in counts tokens by it."""

ReplyKind = Literal["tool_call", "from_tool", "structured", "judgment", "no_information"]
"""What a reply is: a call, an answer from a tool's result, a filled schema, a judgment, or a shrug."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the stand-in says to one request."""

    kind: ReplyKind
    block: JsonObject
    """The one content block."""
    stop_reason: Literal["end_turn", "tool_use", "max_tokens"]


def reply(request: JsonObject, marks: Marks = MappingProxyType({})) -> Reply:
    """Return the reply to the body of a `POST /v1/messages`; `marks` is what MCP servers say of their tools.

    Raises SchemaError for a schema that has no value.
    """
    asked = conversation.read(request)
    # A result without its call, as a client of no agent may send it, is one of a tool that is no server's.
    called = asked.called or ("",) * len(asked.tool_results)
    tool = tool_to_call(request, called, marks)
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


def _call(tool: JsonObject, question: str, request: JsonObject) -> JsonObject:
    return {
        "type": "tool_use",
        "id": f"toolu_{digest('tool_use', tool['name'], request['messages'])}",
        "name": tool["name"],
        "input": tool_input(tool["input_schema"], question),
    }


def _output_schema(request: JsonObject) -> JsonObject | None:
    wanted = (request.get("output_config") or {}).get("format") or {}
    return wanted.get("schema") if wanted.get("type") == "json_schema" else None


def _structured(asked: Conversation, schema: JsonObject) -> tuple[ReplyKind, str]:
    compared = judging.to_compare(asked.user_text)
    if compared is None:
        return "structured", _json(Filling(schema, _answer(asked)[1]).value(schema))
    return "judgment", _json(Filling(schema, compared.reasoning, compared.choose).value(schema))


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _answer(asked: Conversation) -> tuple[ReplyKind, str]:
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


def _limited(kind: ReplyKind, text: str, max_tokens: int) -> Reply:
    """Return the text as far as `max_tokens` allows, like a model that is cut off there."""
    if tokens(text) <= max_tokens:
        return Reply(kind, {"type": "text", "text": text}, "end_turn")
    return Reply(kind, {"type": "text", "text": text[: max_tokens * CHARACTERS_PER_TOKEN]}, "max_tokens")
