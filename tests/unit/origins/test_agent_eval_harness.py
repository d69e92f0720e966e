"""Results of agent-eval-harness become answers and scores, captured ones and trials alike."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import tool_call
from keval.origins.agent_eval_harness import AgentEvalHarness
from tests.origins import harness_capture, harness_trials

GOOD: JsonObject = {"pass": True, "score": 1, "reasoning": "it is there"}
BAD: JsonObject = {"pass": False, "score": 0.25, "reasoning": "it is not"}


def written(folder: Path, *rows: JsonObject) -> Path:
    """Write rows as the harness does."""
    path = folder / "results.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def test_what_was_captured_has_what_its_grader_said(tmp_path: Path) -> None:
    """Its prompt's own metadata are fields of the sample, what the harness adds to them is not."""
    path = written(tmp_path, harness_capture("a", GOOD), harness_capture("b", BAD))
    assert AgentEvalHarness().fits(path.read_bytes()[:4096])
    found = AgentEvalHarness().read(path)
    records = list(found.rows())
    assert [(each["id"], each["pass"], each["score"], each["pass_reasoning"]) for each in records] == [
        ("a", True, 1.0, "it is there"), ("b", False, 0.25, "it is not")
    ]  # fmt: skip
    metrics = found.mapping()["judges"][0]["metrics"]
    assert [(name, each["type"]) for name, each in metrics.items()] == [("pass", "binary"), ("score", "continuous")]
    first = records[0]
    assert [first[name] for name in ("question", "answer", "text", "condition", "repetition", "input_tokens")] == [
        "Question a", "30", "30 days", "shop-agent", None, 7
    ]  # fmt: skip
    assert (first["time"], first["duration_ms"]) == ("2026-03-01T12:00:00+00:00", 9)
    assert first["tool_calls"] == [tool_call("search", failed=True, duration_ms=3)]
    assert (dict(found.sample_fields), first["metadata_0"]) == ({"category": "metadata_0"}, "returns")


def test_each_trial_is_a_repetition(tmp_path: Path) -> None:
    """Of a conversation the question is all that was asked."""
    path = written(tmp_path, harness_trials("a", [GOOD, BAD]))
    assert AgentEvalHarness().fits(path.read_bytes()[:4096])
    records = list(AgentEvalHarness().read(path).rows())
    assert [(each["repetition"], each["text"], each["score"]) for each in records] == [
        (1, "1 days", 1.0), (2, "2 days", 0.25)
    ]  # fmt: skip
    assert records[0]["question"] == ["Hello", "Question a"]


def test_what_failed_is_a_failure(tmp_path: Path) -> None:
    """The harness writes no hint of such rows; an answer that a grader has scored counts, however its agent ended."""
    lost = {"output": "", "trajectory": [], "metadata": {"agent": "shop-agent", "exitCode": 3}}
    rows = [harness_capture("a", GOOD), harness_capture("b", None, **lost, errors=["down"]),
            harness_capture("c", None, **lost), harness_capture("d", BAD, **lost)]  # fmt: skip
    for row in rows[1:3]:
        del row["hint"]
    found = AgentEvalHarness().read(written(tmp_path, *rows))
    agent_error = {"kind": "agent_error", "message": "down"}
    assert [(each["id"], each["answer"], each["failure"]) for each in found.rows()] == [
        ("a", "30", None), ("b", None, agent_error),
        ("c", None, agent_error | {"message": "the agent ended with exit code 3"}), ("d", "30", None),
    ]  # fmt: skip
    ended = harness_capture("a", None, metadata={"agent": "shop-agent", "timedOut": True}, errors=["timeout"])
    (found_row,) = AgentEvalHarness().read(written(tmp_path, ended)).rows()
    assert found_row["failure"] == {"kind": "timeout", "message": "timeout"}
    failed = {"output": "", "pass": False, "reasoning": "Error: Grader exited with code 1"}
    found = AgentEvalHarness().read(written(tmp_path, harness_trials("a", [GOOD, failed])))
    answered, not_answered = found.rows()
    assert (answered["repetition"], answered["failure"]) == (1, None)
    assert not_answered["failure"] == {"kind": "infra_error", "message": "Error: Grader exited with code 1"}


def test_without_a_grader_there_are_no_scores(tmp_path: Path) -> None:
    """Nor a golden answer, if one row has no hint."""
    found = AgentEvalHarness().read(
        written(tmp_path, harness_capture("a", None), harness_capture("b", None, hint=None))
    )
    assert (found.mapping()["judges"], found.has_golden_answers) == ([], False)
    assert all("answer" not in each for each in found.rows())


def test_a_score_outside_of_0_to_1_has_no_known_scale(tmp_path: Path) -> None:
    """The harness does not check what a grader that is a module returns; whether it passed is known all the same."""
    found = AgentEvalHarness().read(written(tmp_path, harness_capture("a", {"pass": True, "score": 7})))
    assert list(found.mapping()["judges"][0]["metrics"]) == ["pass"]
    assert found.left_out == ["no scale is known of: score"]


def test_tool_calls_are_not_known_where_no_row_has_any(tmp_path: Path) -> None:
    """Not all agents say which tools they call."""
    found = AgentEvalHarness().read(written(tmp_path, harness_capture("a", GOOD, trajectory=[])))
    assert not found.has_tool_calls


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "no rows in it"), (b'{"id": "a", "input": "q"}', "row 1: .*output"),
     (b'{"id": "a", "input": "q", "trials": 5}', r"row 1\.trials"), (b'{"id": "a"', "line 1 is not JSON")],
)  # fmt: skip
def test_another_form_is_told_with_its_place(content: bytes, told: str, tmp_path: Path) -> None:
    """Nothing is guessed of a file that is otherwise."""
    path = tmp_path / "results.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        AgentEvalHarness().read(path)


def test_a_table_with_like_fields_is_a_table() -> None:
    """Steps of another form are those of another tool."""
    assert not AgentEvalHarness().fits(b'{"id": "a", "input": "q", "output": "x", "trajectory": [1, 2]}')
