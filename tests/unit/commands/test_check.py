"""What `keval check` looks at before a run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Keval

CONFIG = """
name: questions
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: Answer.}}
judge: {type: exact_match}
"""


def test_a_dataset_that_would_be_its_own_log_is_named(keval: Keval, tmp_path: Path) -> None:
    """It is not read as a log, and what is wrong with it is not said line by line."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "Why?", "answer": "So."}))
    done = keval("check", "eval.yaml")
    assert done.returncode == 2
    assert "questions.jsonl is an input of this command, which it never writes to" in done.stderr
