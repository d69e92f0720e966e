"""Properties of what is said of a config's agent and its prompts before anything is paid."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.config.reader import load
from keval.preparation.agent_doubts import agent_doubts

CONFIG = """\
name: doubtful
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "PROMPT"}}
judge: {type: exact_match}
"""


@pytest.mark.parametrize(
    ("prompt", "is_told"), [("prompts/plain.md", True), ("prompts/other.md", False), ("Why?", False)]
)
def test_a_prompt_that_is_the_path_of_a_file_is_told(tmp_path: Path, prompt: str, is_told: bool) -> None:
    """The agent would be told the path; a text that names no file that is there is a prompt."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "plain.md").write_text("Answer.")
    (tmp_path / "questions.jsonl").touch()
    (tmp_path / "eval.yaml").write_text(CONFIG.replace("PROMPT", prompt))
    found = list(agent_doubts(load(tmp_path / "eval.yaml"), mock=False))
    assert any(each.endswith("write `system_prompt_file: prompts/plain.md`") for each in found) == is_told


def test_no_prompt_is_too_long_or_too_odd_to_be_looked_at(tmp_path: Path) -> None:
    """What the system would not take for a path is a prompt."""
    (tmp_path / "questions.jsonl").touch()
    for prompt in ("x" * 5000, "x" * 1000, "a\\0b", "../" * 100):
        (tmp_path / "eval.yaml").write_text(CONFIG.replace("PROMPT", prompt))
        assert not any("system_prompt_file" in each for each in agent_doubts(load(tmp_path / "eval.yaml"), mock=False))
