"""What keval writes is what it reads fastest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from keval.documents.event_lines import accepted

CONFIG = """\
name: written
dataset: {path: questions.jsonl}
agent: {type: command, command: [sh, -c, "read asked; case $asked in *hard*) exit 1;; *) echo an answer;; esac"]}
conditions: {plain: {system_prompt: "Answer."}, polite: {system_prompt: "Please answer."}}
judges: [{type: exact_match}, {type: rubric, model: claude-opus-5}]
execution: {repetitions: 2, retry: {max_attempts: 2, initial_backoff_s: 0}}
"""


def keval(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "keval", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in {0, 1}, done.stderr


@pytest.mark.slow
def test_each_line_that_keval_writes_is_accepted_at_once(tmp_path: Path) -> None:
    """Each event has its fields in the order of its schema, failures and what is aggregated too."""
    questions = [{"id": name, "question": f"a {name} question", "answer": "an answer"} for name in ("easy", "hard")]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions))
    (tmp_path / "eval.yaml").write_text(CONFIG)
    keval(tmp_path, "run", "eval.yaml", "-o", "log.jsonl", "--mock", "--mock-errors", "400:1")
    log = tmp_path / "log.jsonl"
    judged = next(line for line in log.read_text().splitlines() if '"type":"judgment"' in line)
    keval(tmp_path, "retract", "log.jsonl", json.loads(judged)["id"], "--reason", "a mistake")
    (tmp_path / "questions.jsonl").write_text(json.dumps(questions[0] | {"answer": "a corrected answer"}) + "\n")
    keval(tmp_path, "run", "eval.yaml", "-o", "log.jsonl", "--mock")
    keval(tmp_path, "aggregate", "log.jsonl", "--append", "--level", "all")
    lines = log.read_bytes().splitlines()
    events = [json.loads(line) for line in lines]
    assert {(event["type"], event.get("stage")) for event in events} == {
        *((name, None) for name in ("run", "plan", "response", "sample_change", "judgment", "retraction")),
        *(("failure", "generate"), ("failure", "judge"), ("aggregate", None), ("comparison", None)),
    }
    assert [line for line in lines if not accepted([line])] == []
