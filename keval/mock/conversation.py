"""What a Messages API request holds: the question, and what tools said since.

A request that the API would not take is refused here, as far as the stand-in relies on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
import orjson

from keval.ids import JsonObject
from keval.mock.words import shortened

METASCHEMA = {"$ref": "https://json-schema.org/draft/2020-12/schema"}

REQUEST = {
    "type": "object",
    "required": ["model", "max_tokens", "messages"],
    "properties": {
        "model": {"type": "string", "minLength": 1},
        "max_tokens": {"type": "integer", "minimum": 1},
        "system": {"type": ["string", "array", "null"], "items": {"$ref": "#/$defs/block"}},
        "messages": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/message"}},
        "tools": {"type": ["array", "null"], "items": {"$ref": "#/$defs/tool"}},
        "tool_choice": {"type": ["object", "null"]},
        "output_config": {
            "type": ["object", "null"],
            "properties": {"format": {"type": ["object", "null"], "properties": {"schema": METASCHEMA}}},
        },
    },
    "$defs": {
        "message": {
            "type": "object",
            "required": ["role", "content"],
            "properties": {
                "role": {"enum": ["user", "assistant", "system"]},
                "content": {"$ref": "#/$defs/content"},
            },
        },
        "content": {"type": ["string", "array"], "items": {"$ref": "#/$defs/block"}},
        "block": {
            "type": "object",
            "required": ["type"],
            "properties": {"text": {"type": "string"}},
            "if": {"properties": {"type": {"const": "tool_result"}}},
            "then": {"properties": {"content": {"$ref": "#/$defs/content"}}},
        },
        "tool": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "description": {"type": "string"},
                "input_schema": METASCHEMA,
            },
        },
    },
}
"""The part of the API's request that the stand-in reads."""

_CHECK = jsonschema_rs.validator_for(REQUEST)

REMINDER, REMINDER_END = "<system-reminder>", "</system-reminder>"
"""What the agent's own software puts around what it says in the name of the user."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered; the texts inside a JSON result are taken out of it."""

    text: str
    error: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """One request, read."""

    question: str
    """The user's last text that is not a reminder of the agent's own software."""
    user_text: str
    """All texts of the user."""
    tool_results: tuple[ToolResult, ...]
    """What tools answered since the question."""
    called: tuple[str, ...] = ()
    """The tools that were called since the question."""


def problem(request: object) -> str | None:
    """Return why the API would not take a request, or None."""
    try:
        orjson.dumps([request] * 2)  # what is deeper than orjson writes cannot be counted either
    except TypeError:
        return "request: nested too deeply"
    error = next(_CHECK.iter_errors(request), None)
    if error is None:
        return None
    return shortened(f"{'.'.join(map(str, error.instance_path)) or 'request'}: {error.message}", 300)


def read(request: JsonObject) -> Conversation:
    """Return what matters of a request that has no problem."""
    messages = [(message["role"], blocks_of(message["content"])) for message in request["messages"]]
    texts = [
        (index, text)
        for index, (role, blocks) in enumerate(messages)
        for text in map(_own_text, blocks)
        if role == "user" and text
    ]
    asked_at, question = texts[-1] if texts else (0, "")
    return Conversation(
        question=question,
        user_text="\n\n".join(text for _, text in texts),
        tool_results=tuple(
            _tool_result(block)
            for _, blocks in messages[asked_at:]
            for block in blocks
            if block.get("type") == "tool_result"
        ),
        called=tuple(
            str(block.get("name"))
            for _, blocks in messages[asked_at:]
            for block in blocks
            if block.get("type") == "tool_use"
        ),
    )


def blocks_of(content: str | Sequence[JsonObject]) -> Sequence[JsonObject]:
    """Return the blocks of a message or of a system prompt, which may be a text alone."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _own_text(block: JsonObject) -> str:
    return _without_reminders(_text(block)).strip()


def _without_reminders(text: str) -> str:
    """Return a text without its reminders. One that has no end is none, and so is any after it."""
    kept: list[str] = []
    place = 0
    while (begin := text.find(REMINDER, place)) >= 0 and (end := text.find(REMINDER_END, begin)) >= 0:
        kept.append(text[place:begin])
        place = end + len(REMINDER_END)
    return "".join([*kept, text[place:]])


def _text(block: JsonObject) -> str:
    return str(block.get("text", "")) if block.get("type") == "text" else ""


def _tool_result(block: JsonObject) -> ToolResult:
    parts = map(_own_text, blocks_of(block.get("content") or ""))
    return ToolResult("\n\n".join(_readable(part) for part in parts if part), bool(block.get("is_error")))


def _readable(text: str) -> str:
    """Return the lines of a JSON object or array, or the text as it is."""
    try:
        value = orjson.loads(text) if text.startswith(("{", "[")) else None
    except orjson.JSONDecodeError:
        value = None
    if isinstance(value, dict) and set(value) == {"result"}:  # how MCP servers wrap what a function returns
        value = value["result"]
    return text if value is None else "\n\n".join(_lines(value))


def _lines(whole: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the texts of a JSON value, however deep it is, each after the name that it has."""
    left = [("", whole)]
    while left:
        name, value = left.pop()
        if isinstance(value, dict):
            left += reversed(value.items())
        elif isinstance(value, list):
            left += ((name, each) for each in reversed(value))
        elif isinstance(value, str) and (not name or " " in value):
            yield value
        elif value not in (None, ""):
            yield f"{name}: {value}" if name else str(value)
