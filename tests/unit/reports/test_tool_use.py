from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.reports.queries import Queries
from keval.reports.tool_use import ToolUse, tool_use
from tests.builders import condition_id, response_event, run_event, sample, sample_change_event, write_log
from tests.unit.projections.test_tool_use import GOLDEN, call


def used(folder: Path, *events: JsonObject) -> ToolUse:
    """Return what the tools did in the answers of the condition baseline."""
    with projections.connect([write_log(folder / "log.jsonl", events)]) as connection:
        found = tool_use(Queries(connection))
    ((_, only),) = [(key, use) for key, use in found.items() if key[0] == condition_id("baseline")]
    return only


def answer(sample_id: str, *turns: JsonObject, golden: str = GOLDEN) -> JsonObject:
    """Return an answer to a question with that golden answer, after these turns."""
    return response_event(sample_id, sample=sample(sample_id) | {"answer": golden}, turns=list(turns))


def test_what_tools_did_is_summed_over_the_answers_of_a_condition(tmp_path: Path) -> None:
    """Answers without tool calls count as searched; a call without a result as failed."""
    found = used(
        tmp_path,
        answer("q1", call(GOLDEN), call(GOLDEN, "Read", None), call(GOLDEN, "Grep", None)),
        answer("q2", call(None), call(GOLDEN, "Read", None)),
        answer("q3", call(GOLDEN), golden="short"),
        answer("q4"),
        response_event("q1", "with_docs"),
    )
    assert found == ToolUse(6, 1, searched=3, found=2, found_elsewhere=2, tools_elsewhere=["Grep", "Read"])


@pytest.mark.slow
def test_calls_that_an_agent_does_not_report_are_not_known(tmp_path: Path) -> None:
    """They are no 0, and nothing was searched for the golden answer; another agent's are counted."""
    response = response_event("q1", sample=sample("q1") | {"answer": GOLDEN})
    agent = {**response["agent"], "agent_id": response["agent_id"], "options": {}, "files": []}
    assert used(tmp_path, run_event(agent=agent), response) == ToolUse(0, 0, searched=1, tools_elsewhere=[])
    silent = run_event(agent=agent | {"reports_tool_calls": False})
    assert used(tmp_path, silent, response) == ToolUse(None, None, tools_elsewhere=[])


def test_a_corrected_golden_answer_is_the_one_that_is_looked_for(tmp_path: Path) -> None:
    """It counts for what was answered before, for whether it is looked for too; the answers of others keep theirs."""
    short = sample_change_event(sample("q1") | {"answer": "short"}, "answer")
    long = sample_change_event(sample("q3") | {"answer": GOLDEN}, "answer")
    answers = [
        answer(name, call(GOLDEN), golden=golden) for name, golden in {"q1": GOLDEN, "q2": GOLDEN, "q3": "x"}.items()
    ]
    found = used(tmp_path, *answers, short, long)
    assert (found.calls, found.searched, found.found) == (3, 2, 2)
