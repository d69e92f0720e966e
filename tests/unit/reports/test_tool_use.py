from __future__ import annotations

import pytest

from keval.ids import JsonObject
from keval.reports.tool_use import ToolUse

GOLDEN = "The tower is  330 metres\nhigh."


def call(result: str | None, name: str = "mcp__docs__search", server: str | None = "docs") -> JsonObject:
    """Return a tool call as a turn."""
    return {
        "type": "tool_call", "id": "c", "name": name, "server": server, "input": {},
        "result": result, "error": result is None, "duration_ms": 1,
    }  # fmt: skip


def used(*turns: JsonObject, golden: str | None = GOLDEN) -> ToolUse:
    """Return what is counted of one answer to a question with that golden answer, after these turns."""
    found = ToolUse()
    found.add(turns, golden)
    return found


@pytest.mark.parametrize(
    "result",
    [
        "the tower is 330 metres high.",
        "# Towers\n\nTHE TOWER\tis 330\u00a0metres \r\n high. It is red.",
        r'{"result": "The tower is 330 metres\nhigh."}',
        r'{"result": "The tower is 330\u2003metres\r\n\thigh."}'.replace(r"\u2003", "\u2003"),
    ],
)
def test_a_golden_answer_is_found_whatever_its_whitespace_and_case(result: str) -> None:
    """Runs of whitespace are one space, escaped line breaks of JSON too."""
    found = used(call(result))
    assert (found.searched, found.found, found.found_elsewhere) == (1, 1, 0)


def test_quotation_marks_in_json_are_quotation_marks() -> None:
    """A golden answer with quotation marks is found in JSON, where each has a backslash."""
    assert used(call(r'{"result": "It is called \"the tower\" here"}'), golden='It is called "the tower"').found == 1


@pytest.mark.parametrize("result", [None, "", "The tower is 331 metres high.", "330 metres"])
def test_another_text_is_no_leakage(result: str | None) -> None:
    """Part of the answer, another answer and no answer are not found."""
    assert used(call(result)).found == 0


def test_short_golden_answers_are_not_searched() -> None:
    """Nineteen characters may stand anywhere by chance; whitespace makes no answer longer."""
    short, long = "x" * 19, "x" * 20
    assert used(call(short), golden=f"  {short}\n\n ").searched == 0
    assert used(call(long), golden=long).found == 1
    assert used(call(long), golden=None).searched == 0


def test_the_agents_own_words_are_not_searched() -> None:
    """An answer that says the golden answer is a good one."""
    found = used({"type": "text", "text": GOLDEN})
    assert (found.searched, found.found) == (1, 0)


def test_an_answer_counts_once_however_often_its_tools_return_the_golden_answer() -> None:
    """Two calls of one tool are one answer; a tool that belongs to no MCP server is named."""
    found = used(call(GOLDEN), call(GOLDEN), call(GOLDEN, "Read", None))
    assert (found.calls, found.found, found.found_elsewhere, found.tools_elsewhere) == (3, 1, 1, {"Read"})
