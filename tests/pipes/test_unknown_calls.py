"""What the real commands say of an agent that does not report its tool calls: it did not call the fewest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Keval = Callable[..., "CompletedProcess[str]"]

CONFIG = """\
name: silent
dataset: {path: questions.jsonl}
agent: {type: command, command: [cat]}
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: trajectory, at_most: {"*": 1}}
execution: {repetitions: 1}
"""


@pytest.mark.parametrize("how", ["run", "log", "pipe"])
@pytest.mark.slow
def test_a_judge_of_unreported_tool_calls_gives_no_score(how: str, tmp_path: Path, keval: Keval) -> None:
    """Whether it judges at once, a log, or a pipe."""
    (tmp_path / "questions.jsonl").write_text('{"question": "Q", "answer": "A"}\n')
    (tmp_path / "eval.yaml").write_text(CONFIG)
    if how == "run":
        done = keval("run", "eval.yaml", "-o", "log.jsonl", "--quiet")
    else:
        assert keval("generate", "eval.yaml", "-o", "log.jsonl", "--quiet").returncode == 0
        generated = (tmp_path / "log.jsonl").read_text()
        done = keval("judge", "log.jsonl", "--quiet") if how == "log" else keval("judge", "--quiet", stdin=generated)
    assert done.returncode == 0, done.stderr
    lines = done.stdout if how == "pipe" else (tmp_path / "log.jsonl").read_text()
    (judgment,) = [event for event in map(json.loads, lines.splitlines()) if event["type"] == "judgment"]
    score = judgment["scores"]["trajectory"]
    assert (score["score"], score["not_applicable"]) == (None, "the agent does not report its tool calls")
