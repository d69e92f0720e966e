"""Properties of the view that finds golden answers in what tools returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.ids import JsonObject, sample_sha256
from tests.builders import ask, response_event, run_event, sample, write_log

GOLDEN = "The tower is  330 metres\nhigh."


def call(result: str | None, name: str = "mcp__docs__search", server: str | None = "docs") -> JsonObject:
    """Return a tool call as a turn."""
    return {
        "type": "tool_call", "id": "c", "name": name, "server": server, "input": {},
        "result": result, "error": result is None, "duration_ms": 1,
    }  # fmt: skip


def answered(*turns: JsonObject, golden: str = GOLDEN, **fields: object) -> JsonObject:
    """Return an answer to a question with that golden answer, after these turns."""
    asked = sample() | {"answer": golden}
    return response_event(**fields | {"sample": asked, "sample_sha256": sample_sha256(asked), "turns": list(turns)})  # type: ignore[arg-type] # any field


def found(folder: Path, *events: JsonObject) -> list[JsonObject]:
    """Return the rows of the view over a log."""
    return ask(write_log(folder / "log.jsonl", [run_event(), *events]), "select * from canaries order by name")


@pytest.mark.parametrize(
    "result",
    [
        "the tower is 330 metres high.",
        "# Towers\n\nTHE TOWER\tis 330\u00a0metres \r\n high. It is red.",
        r'{"result": "The tower is 330 metres\nhigh."}',
    ],
)
def test_a_golden_answer_is_found_whatever_its_whitespace_and_case(tmp_path: Path, result: str) -> None:
    """Runs of whitespace are one space, escaped line breaks of JSON too."""
    response = answered(call(result))
    assert found(tmp_path, response) == [
        {
            "response_id": response["id"],
            "condition": "baseline",
            "condition_id": response["condition_id"],
            "agent_id": response["agent_id"],
            "sample_id": "q1",
            "repetition": 1,
            "name": "mcp__docs__search",
            "server": "docs",
        }
    ]


@pytest.mark.parametrize("result", [None, "", "The tower is 331 metres high.", "330 metres"])
def test_another_text_is_no_canary(tmp_path: Path, result: str | None) -> None:
    """Part of the answer, another answer and no answer are not found."""
    assert found(tmp_path, answered(call(result))) == []


def test_short_golden_answers_are_not_searched(tmp_path: Path) -> None:
    """Nineteen characters may stand anywhere by chance; whitespace makes no answer longer."""
    short, long = "x" * 19, "x" * 20
    assert found(tmp_path, answered(call(short), golden=f"  {short}\n\n ")) == []
    assert len(found(tmp_path, answered(call(long), golden=long))) == 1


def test_the_agents_own_words_are_not_searched(tmp_path: Path) -> None:
    """An answer that says the golden answer is a good one."""
    assert found(tmp_path, answered({"type": "text", "text": GOLDEN}, text=GOLDEN)) == []


def test_each_tool_is_one_row_however_often_it_was_called(tmp_path: Path) -> None:
    """Two calls of one tool are one row; a built-in tool has no server."""
    rows = found(tmp_path, answered(call(GOLDEN), call(GOLDEN), call(GOLDEN, "Read", None)))
    assert [(row["name"], row["server"]) for row in rows] == [("Read", None), ("mcp__docs__search", "docs")]
