from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from keval.agents import AgentError, Answer, McpUse, Turn
from keval.agents.replay import NOTHING_USED, Replay
from tests.builders import response_event, retraction_event, run_event
from tests.prompts import prompt


def written(path: Path, *rows: Any) -> Replay:  # noqa: ANN401 - any JSON
    """Write lines and return who replays them."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Replay(path=path)


def run_of(**prompts: tuple[str, list[str]]) -> dict[str, Any]:
    """Return a run of conditions, each with its prompt and servers."""
    run = run_event(list(prompts))
    for name, (told, servers) in prompts.items():
        run["conditions"][name] |= {"system_prompt": told, "mcp_servers": servers}
    return run


async def text(agent: Replay, folder: Path, **fields: Any) -> str:  # noqa: ANN401 - any field of a prompt
    """Return what is answered to a prompt."""
    return (await agent.answer(prompt(folder, **fields))).text


async def test_a_log_is_replayed_by_question_condition_and_repetition(tmp_path: Path) -> None:
    """The last response that fits counts; what the agent did is told as it was, and costs nothing now."""
    sample = {"id": "s", "question": "What is a kiwi?", "answer": "A fruit."}
    call = {"type": "tool_call", "id": "1", "name": "mcp__docs__search", "server": "docs", "input": {"q": 1}}
    more: dict[str, Any] = {
        "turns": [{**call, "result": "r", "error": False, "duration_ms": 5}, {"type": "text", "text": "two"}],
        "mcp": {"docs": {"status": "connected", "offered": ["search"], "called": 1, "failed": 0}},
    }
    agent = written(
        tmp_path / "run.jsonl",
        run_of(plain=("Answer briefly.", []), docs=("Answer briefly.", ["docs"])),
        response_event("s", "plain", sample=sample, repetition=1, text="old"),
        response_event("s", "plain", sample=sample, repetition=1, text="one"),
        response_event("s", "docs", sample=sample, repetition=2, text="two", cost_usd=0.5, **more),
    )
    server = {"type": "http", "url": "http://x"}
    assert await text(agent, tmp_path) == "one"
    answer = await agent.answer(prompt(tmp_path, servers={"docs": server}, repetition=2))
    assert answer == Answer(
        "answered",
        "two",
        turns=(
            Turn("tool_call", None, "1", "mcp__docs__search", "docs", {"q": 1}, "r", error=False, duration_ms=5),
            Turn("text", text="two"),
        ),
        mcp={"docs": McpUse("connected", ("search",), called=1)},
        sources=answer.sources,
        usage=NOTHING_USED,
        cost_usd=0.0,
        num_turns=answer.num_turns,
        models=answer.models,
    )
    for other in ({"repetition": 3}, {"question": "What?"}, {"system_prompt": "Answer."}):
        with pytest.raises(AgentError, match="no answer for this question") as caught:
            await agent.answer(prompt(tmp_path, **other))
        assert (caught.value.kind, caught.value.retryable) == ("infra_error", False)


async def test_an_answer_that_was_taken_back_is_not_replayed(tmp_path: Path) -> None:
    """Unless it was given again."""
    sample = {"id": "s", "question": "What is a kiwi?", "answer": "A fruit."}
    answer = response_event("s", sample=sample)
    run, taken_back = run_of(baseline=("Answer briefly.", [])), retraction_event(answer)
    assert "holds no answer" in str(written(tmp_path / "a.jsonl", run, answer, taken_back).missing(tmp_path, {}))
    again = written(tmp_path / "b.jsonl", run, answer, taken_back, {**answer, "text": "again"})
    assert await text(again, tmp_path) == "again"


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([response_event("s", "a"), response_event("s", "b")], ":2: two conditions, and no run event before them"),
        (
            [{name: value for name, value in response_event().items() if name != "condition_id"}],
            ":1: $: 'condition_id' is missing",
        ),
    ],
)
def test_responses_of_which_nobody_knows_whose_they_are_are_refused(
    tmp_path: Path, events: list[dict[str, Any]], told: str
) -> None:
    """As where `grep` took them out of a log: one condition's answer is never given for another."""
    assert told in str(written(tmp_path / "part.jsonl", *events).missing(tmp_path, {}))


async def test_plain_lines_are_for_all_that_they_do_not_name(tmp_path: Path) -> None:
    """The line that names most is the one that counts."""
    question = "What is a kiwi?"
    agent = written(
        tmp_path / "answers.jsonl",
        {"question": question, "text": "any"},
        {"question": question, "text": "second", "repetition": 2},
        {"question": question, "text": "brief", "system_prompt": "Be brief."},
        {"note": "no answer"},
    )
    assert await text(agent, tmp_path) == "any"
    assert await text(agent, tmp_path, repetition=2) == "second"
    assert await text(agent, tmp_path, system_prompt="Be brief.") == "brief"


def test_it_reports_tool_calls_where_every_answer_does(tmp_path: Path) -> None:
    """One answer without makes them unknown for all: a condition's counts must be whole."""
    row = {"question": "Why?", "text": "So."}
    silent = run_event()
    silent["agent"] |= {"agent_id": response_event()["agent_id"], "reports_tool_calls": False}
    assert written(tmp_path / "a.jsonl", {**row, "tool_calls": []}).reports_tool_calls
    assert not written(tmp_path / "b.jsonl", {**row, "tool_calls": []}, row).reports_tool_calls
    assert written(tmp_path / "c.jsonl", response_event()).reports_tool_calls
    assert not written(tmp_path / "d.jsonl", silent, response_event()).reports_tool_calls


def test_what_cannot_be_replayed_is_told_before_a_run(tmp_path: Path) -> None:
    """A missing, an empty and a broken file are named, with the line, and lines of which only one could be taken."""
    assert "No such file" in str(Replay(path=tmp_path / "gone.jsonl").missing(tmp_path, {}))
    assert "holds no answer" in str(written(tmp_path / "empty.jsonl").missing(tmp_path, {}))
    assert ":2: not a JSON object" in str(written(tmp_path / "list.jsonl", {}, []).missing(tmp_path, {}))
    same = {"question": "Why?", "text": "So."}
    twice = written(tmp_path / "twice.jsonl", same, {**same, "repetition": 1}, {**same, "text": "No."})
    assert "twice.jsonl:3: answers the same as line 1; name the repetition" in str(twice.missing(tmp_path, {}))
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"a": 1}\n\n{"a')
    assert ":3: not JSON" in str(Replay(path=broken).missing(tmp_path, {}))
    fine = written(tmp_path / "fine.jsonl", {"question": "Why?", "text": "So."})
    assert fine.missing(tmp_path, {}) is None
    assert [file.name for file in fine.local_files(tmp_path)] == ["fine.jsonl"]


async def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    """Whoever holds the agent gets what the file says now."""
    agent = written(tmp_path / "a.jsonl", {"question": "What is a kiwi?", "text": "before"})
    assert await text(agent, tmp_path) == "before"
    written(tmp_path / "a.jsonl", {"question": "What is a kiwi?", "text": "after that"})
    assert await text(agent, tmp_path) == "after that"


async def test_a_file_that_changes_unseen_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    """As after a copy that keeps the time: what stands there now is no line of JSON."""
    agent = written(tmp_path / "a.jsonl", {"question": "What is a kiwi?", "text": "before"})
    assert await text(agent, tmp_path) == "before"
    state = agent.path.stat()
    agent.path.write_bytes(b"x" * state.st_size)
    os.utime(agent.path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(AgentError, match="cannot be read") as told:
        await text(agent, tmp_path)
    assert told.value.kind == "infra_error"


async def test_several_messages_are_found_by_all_of_them(tmp_path: Path) -> None:
    """Their last one alone is another question."""
    sample = {"id": "s", "question": ["What?", "Why?"], "answer": "a"}
    asked = {"id": "t", "question": "Why?", "answer": "a"}
    rows = (response_event("s", sample=sample, text="both"), response_event("t", sample=asked, text="one"))
    for agent in (
        written(tmp_path / "log.jsonl", *rows),
        written(
            tmp_path / "rows.jsonl",
            {"question": ["What?", "Why?"], "text": "both"},
            {"question": "Why?", "text": "one"},
        ),
    ):
        assert agent.takes_turns
        assert await text(agent, tmp_path, question="Why?", turns=("What?", "Why?")) == "both"
        assert await text(agent, tmp_path, question="Why?") == "one"


@pytest.mark.parametrize("field", [{"system_prompt": ["Answer briefly."]}, {"repetition": {}}, {"repetition": "1"}])
def test_a_line_that_no_prompt_could_ask_for_is_refused(tmp_path: Path, field: dict[str, Any]) -> None:
    """It is named before a run, as what is no JSON is."""
    said = written(tmp_path / "said.jsonl", {"question": "q", "text": "t", **field}).missing(tmp_path, {})
    assert said is not None
    assert ":1: system_prompt must be a text, and repetition a whole number" in said


def test_a_line_that_only_looks_like_a_run_is_no_answer(tmp_path: Path) -> None:
    """Another program's file may have a `type` of its own."""
    for own in ({"type": "run"}, {"type": "response", "run_id": "1"}, {"type": "label", "sample": {}}):
        agent = written(tmp_path / "said.jsonl", own | {"question": "q", "text": "t"})
        assert agent.missing(tmp_path, {}) is None
