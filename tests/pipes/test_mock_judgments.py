"""A rehearsal of judging in a log of real answers is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Keval


@pytest.mark.slow
def test_mock_judgments_in_a_real_log_are_warned_of(keval: Keval, tmp_path: Path) -> None:
    """`keval judge LOG --mock` says on stderr that the answers are real and its judgments are not."""
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "Rome", "answer": "Rome"}\n')
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\njudge: {type: exact_match}\n'
    )
    for name, mock in (("real.jsonl", []), ("mock.jsonl", ["--mock"])):
        assert keval("generate", "eval.yaml", "-q", "-o", name, *mock).returncode == 0
        done = keval("judge", name, "--mock", "-q")
        assert done.returncode == 0
        assert ("adds judgments of a stand-in" in done.stderr) == (not mock)
