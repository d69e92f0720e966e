from __future__ import annotations

from typing import Any

import pytest

from keval.agents import AgentError, McpUse, Turn
from keval.agents._function_result import LONGEST, read_result
from keval.usage import Usage


def test_a_text_is_an_answer() -> None:
    """What else there is to know of it is not known."""
    answer = read_result("yes", ("docs",), tool_calls=False)
    assert (answer.status, answer.text, answer.usage, answer.cost_usd, answer.mcp) == (
        "answered",
        "yes",
        None,
        None,
        {},
    )
    assert read_result(" ", (), tool_calls=False).status == "empty"


def test_a_mapping_tells_more() -> None:
    """Tokens, cost, sources, models and tool calls are recorded as those of any agent."""
    calls = [{"name": "mcp__docs__search", "input": {"q": 1}, "result": "r", "id": 7}, {"name": "own", "error": True}]
    told = {"text": "yes", "usage": {"input_tokens": 3}, "cost_usd": 0.5, "sources": ["a"], "models": ["m"]}
    answer = read_result({**told, "tool_calls": calls}, ("docs", "other"), tool_calls=True)
    assert answer.turns == (
        Turn("tool_call", id="7", name="mcp__docs__search", server="docs", input={"q": 1}, result="r", error=False),
        Turn("tool_call", name="own", error=True),
        Turn("text", text="yes"),
    )
    assert answer.mcp == {"docs": McpUse("unknown", called=1), "other": McpUse("unknown")}
    assert (answer.usage, answer.cost_usd) == (Usage(input_tokens=3), 0.5)
    assert (answer.sources, answer.models) == (("a",), ("m",))


@pytest.mark.parametrize(
    ("returned", "tool_calls", "said"),
    [
        (None, False, "returned NoneType, neither a text nor a mapping"),
        ({"answer": "yes"}, False, "returned dict, neither"),
        ({"text": "yes", "tokens": 3}, False, "unknown keys: tokens"),
        ("yes", True, "lacks tool_calls, but reports_tool_calls is true"),
        ({"text": "yes", "tool_calls": []}, False, "has tool_calls, but reports_tool_calls is false"),
        ({"text": "yes", "tool_calls": [{"input": {}}]}, True, "a tool call without a name"),
        ({"text": "yes", "sources": "a"}, False, "returned str as sources"),
        ("y" * (LONGEST + 1), False, "returned 10,485,761 characters; 10,485,760 are read at most"),
        (
            {"text": "yes", "tool_calls": [{"name": "n", "result": "y" * LONGEST}]},
            True,
            "returned 10,485,[0-9]* characters",
        ),
        ({"text": "yes", "sources": ["y" * LONGEST]}, False, "returned 10,485,763 characters"),
        (
            {"text": "yes", "tool_calls": [{"name": "n", "input": {"q": "y" * LONGEST}}]},
            True,
            "returned 10,485,[0-9]* characters",
        ),
        (
            {"text": "yes", "tool_calls": [{"name": "n", "input": "q"}]},
            True,
            "returned str as the input of n, not a mapping",
        ),
    ],
)
def test_what_is_no_answer_is_the_agents_failure(returned: Any, tool_calls: bool, said: str) -> None:  # noqa: ANN401 - anything
    """What was promised has to be there, and nothing is read past what is known."""
    with pytest.raises(AgentError, match=said) as caught:
        read_result(returned, (), tool_calls=tool_calls)
    assert caught.value.kind == "agent_error"


class Said(str):
    """A text of another kind, as numpy has one; what it says of itself is another one."""

    __slots__ = ()

    def __str__(self) -> str:
        return "another"


def test_a_text_of_another_kind_becomes_a_plain_one() -> None:
    """Also the name of a tool: what is written down takes Python's own texts alone."""
    told = {"text": Said("yes"), "tool_calls": [{"name": Said("own")}]}
    call, text = read_result(told, (), tool_calls=True).turns
    assert (type(text.text), text.text, type(call.name), call.name) == (str, "yes", str, "own")


def test_what_a_tool_call_says_of_its_error_is_kept() -> None:
    """A text is its result, unless it has one; an empty text is no error."""
    errors: list[dict[str, object]] = [{"error": "index is down"}, {"error": "down", "result": "partly"}, {"error": ""}]
    calls = [{"name": "own", **error} for error in errors]
    *turns, _ = read_result({"text": "yes", "tool_calls": calls}, (), tool_calls=True).turns
    assert [(turn.error, turn.result) for turn in turns] == [
        (True, "index is down"), (True, "partly"), (False, None)
    ]  # fmt: skip
