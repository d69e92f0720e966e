"""Reads what a function returned as an agent's answer: a text, or a mapping with a text and what else is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from keval.agents import AgentError, Answer, McpUse, Turn
from keval.agents._json_output import as_answer
from keval.secrets.excerpts import beginning_of
from keval.tool_names import server_of
from keval.usage import known_cost_usd, known_usage

KEYS = ("text", "usage", "cost_usd", "tool_calls", "sources", "models")
"""What a returned mapping may hold; only `text` must be there."""

LONGEST = 10 * 1024 * 1024
"""Characters that an answer may have with its calls and sources: a log with a few longer ones cannot be reported."""

CALL_HEAD = 200
"""Characters that are quoted of a tool call that nobody understands."""


def read_result(returned: object, servers: Sequence[str], *, tool_calls: bool) -> Answer:
    """Return the answer; with `tool_calls` they must be in it. Raises AgentError for anything else."""
    told = {"text": returned} if isinstance(returned, str) else returned
    if not isinstance(told, Mapping) or not isinstance(told.get("text"), str):
        raise AgentError("agent_error", f"returned {type(returned).__name__}, neither a text nor a mapping with a text")
    unknown = [str(key) for key in told if key not in KEYS]
    if unknown:
        raise AgentError("agent_error", f"returned unknown keys: {', '.join(unknown)} (known: {', '.join(KEYS)})")
    if tool_calls != ("tool_calls" in told):
        wrong = "lacks tool_calls" if tool_calls else "has tool_calls"
        said = "true" if tool_calls else "false"
        raise AgentError("agent_error", f"what the function returned {wrong}, but reports_tool_calls is {said}")
    usage = told.get("usage")
    answer = as_answer(
        _plain(told["text"]),
        known_usage(usage) if isinstance(usage, Mapping) else None,
        known_cost_usd(told.get("cost_usd")),
    )
    calls = tuple(_call(call, servers) for call in _list(told, "tool_calls"))
    sources, models = (tuple(map(str, _list(told, key))) for key in ("sources", "models"))
    length = len(answer.text) + sum(len(str(each)) for each in (*calls, *sources, *models))
    if length > LONGEST:
        raise AgentError("agent_error", f"returned {length:,} characters; {LONGEST:,} are read at most")
    return replace(
        answer,
        turns=(*calls, *answer.turns),
        mcp={name: use_of(name, calls) for name in servers} if tool_calls else {},
        sources=sources,
        models=models,
    )


def _list(told: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = told.get(key, ())
    if not isinstance(value, list | tuple):
        raise AgentError("agent_error", f"returned {type(value).__name__} as {key}, not a list")
    return value


def _call(call: object, servers: Sequence[str]) -> Turn:
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        raise AgentError("agent_error", f"returned a tool call without a name: {beginning_of(repr(call), CALL_HEAD)}")
    name, result, given, error = _plain(call["name"]), call.get("result"), call.get("input"), call.get("error")
    if given is not None and not isinstance(given, Mapping):
        raise AgentError("agent_error", f"returned {type(given).__name__} as the input of {name}, not a mapping")
    if isinstance(error, str):  # what went wrong is what the call brought
        error, result = bool(error), (error or None) if result is None else result
    return Turn(
        "tool_call",
        id=str(call["id"]) if call.get("id") is not None else None,
        name=name,
        server=server_of(name, servers),
        input=given,
        result=None if result is None else str(result),
        error=bool(error),
    )


def _plain(text: str) -> str:
    """Return a text as one of Python's own kind: of another, such as `numpy.str_`, no event can be made."""
    return str.__str__(text)


def use_of(server: str, calls: Sequence[Turn]) -> McpUse:
    """Return what became of a server; whether it was connected only the function knows."""
    own = [call for call in calls if call.server == server]
    return McpUse("unknown", called=len(own), failed=sum(bool(call.error) for call in own))
