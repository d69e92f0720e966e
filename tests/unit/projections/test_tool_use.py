from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keval import projections
from keval.ids import JsonObject
from keval.projections.tool_use import SHORTEST, ToolUse, comparable, tool_use
from tests.builders import response_event, sample, write_log

GOLDEN = "The tower is  330 metres\nhigh."


def call(result: str | None, name: str = "mcp__docs__search", server: str | None = "docs") -> JsonObject:
    """Return a tool call as a turn."""
    return {
        "type": "tool_call", "id": "c", "name": name, "server": server, "input": {},
        "result": result, "error": result is None, "duration_ms": 1,
    }  # fmt: skip


def used(*turns: JsonObject, golden: str | None = GOLDEN) -> ToolUse:
    """Return what is counted of one answer to a question with that golden answer, after these turns."""
    return tool_use(turns, golden)


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
    assert used(call(result)) == {"calls": 1, "failed": 0, "found": True, "found_by": []}


def test_quotation_marks_in_json_are_quotation_marks() -> None:
    """A golden answer with quotation marks is found in JSON, where each has a backslash."""
    assert used(call(r'{"result": "It is called \"the tower\" here"}'), golden='It is called "the tower"')["found"]


@pytest.mark.parametrize("result", [None, "", "The tower is 331 metres high.", "330 metres"])
def test_another_text_is_no_leakage(result: str | None) -> None:
    """Part of the answer, another answer and no answer are not found."""
    assert not used(call(result))["found"]


def test_short_golden_answers_are_not_searched() -> None:
    """Nineteen characters may stand anywhere by chance; whitespace makes no answer longer."""
    short, long = "x" * 19, "x" * 20
    assert not used(call(short), golden=f"  {short}\n\n ")["found"]
    assert used(call(long), golden=long)["found"]
    assert not used(call(long), golden=None)["found"]


def test_the_agents_own_words_are_not_searched() -> None:
    """An answer that says the golden answer is a good one."""
    assert not used({"type": "text", "text": GOLDEN})["found"]


def test_an_answer_counts_once_however_often_its_tools_return_the_golden_answer() -> None:
    """Two calls of one tool are one answer; a tool that belongs to no MCP server is named."""
    found = used(call(GOLDEN), call(GOLDEN), call(GOLDEN, "Read", None))
    assert found == {"calls": 3, "failed": 0, "found": True, "found_by": ["Read"]}


SPACES = "ab \t\n\x0b\x0c\r\x1f\x85\u00a0\u1680\u2003\u2028\u202f\u205f\u3000\u200bİß"
WORDS = st.lists(st.sampled_from(["a", "of ", "be  ", " ", "c\n", "right answer "]), min_size=4, max_size=15)
ANSWERS = WORDS.map("".join) | st.text(SPACES, min_size=15, max_size=30)


@settings(max_examples=25)
@given(st.lists(ANSWERS.filter(lambda answer: answer.strip(" \t\r\n")), min_size=1, max_size=20, unique=True))
@example(["a  " * 7, "a\t\t" * 7, f"{'a' * 19} ", f" {'a' * 19}", "a" * 20, f"{'a ' * 5}{' ' * 60}{'a ' * 4}b"])
@pytest.mark.slow
def test_golden_answers_that_are_looked_for_are_counted(answers: list[str]) -> None:
    """What `lines` calls long enough to be looked for is what is looked for."""
    looked_for = [(len(comparable(answer)) >= SHORTEST,) for answer in answers]
    with tempfile.TemporaryDirectory() as folder:
        events = [
            response_event(f"s{number}", sample=sample(f"s{number}") | {"answer": answer}, turns=[call(answer)])
            for number, answer in enumerate(answers)
        ]
        log = write_log(Path(folder) / "log.jsonl", events)
        with projections.connect([log]) as connection:
            assert connection.sql("SELECT is_searched FROM lines").fetchall() == looked_for
            assert connection.sql("SELECT found FROM tool_use ORDER BY position").fetchall() == looked_for
