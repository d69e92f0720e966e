"""What `keval check` looks at before a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keval.models import prices
from tests.conftest import Keval

CONFIG = """
name: questions
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: Answer.}}
judge: {type: exact_match}
"""

OWN = "{input: 1, output: 2, cache_read: 0.1, cache_write_5m: 1.25}"


@pytest.mark.slow
def test_a_dataset_that_would_be_its_own_log_is_named(keval: Keval, tmp_path: Path) -> None:
    """It is not read as a log, and what is wrong with it is not said line by line."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "Why?", "answer": "So."}))
    done = keval("check", "eval.yaml")
    assert done.returncode == 2
    assert "keval run eval.yaml would write its log to questions.jsonl, which the config reads" in done.stderr
    named = keval("check", "eval.yaml", "--log", "questions.jsonl")
    assert (named.returncode, "questions.jsonl is what the config reads" in named.stderr) == (2, True), named.stderr


@pytest.mark.slow
def test_a_log_that_is_named_and_not_there_is_told(keval: Keval, tmp_path: Path) -> None:
    """The default log may be missing before the first run; one that somebody named is expected to be there."""
    (tmp_path / "eval.yaml").write_text(CONFIG.replace("name: questions", "name: other"))
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "Why?", "answer": "So."}))
    assert "is not there" not in keval("check", "eval.yaml").stderr
    named = keval("check", "eval.yaml", "--log", "nope.jsonl")
    assert (named.returncode, named.stderr) == (0, "keval: nope.jsonl is not there; nothing is compared with it\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "said"), [("false", "$0.14"), ("echo", "$0.14 for all calls, also those made already")]
)
def test_beside_answers_an_estimate_is_said_to_be_of_all_calls(
    keval: Keval, tmp_path: Path, program: str, said: str
) -> None:
    """Also of a run that stops when decided; where the log has failures alone, no call is said to be made already."""
    (tmp_path / "questions.jsonl").write_text(json.dumps({"question": "Why?", "answer": "So."}))
    config = CONFIG.replace("{plain:", "{terse: {system_prompt: Be brief.}, plain:")
    for name, agent in (("run", f"command, command: [{program}]"), ("check", "claude, model: claude-opus-5")):
        (tmp_path / f"{name}.yaml").write_text(config.replace("type: echo", f"type: {agent}"))
    keval("run", "run.yaml", "-o", "run.jsonl", "--until", "decided")
    done = keval("check", "check.yaml", "--mock", "--log", "run.jsonl", "--until", "decided")
    assert f"\nestimate  {said}\n" in done.stdout, done.stderr
    rough = f"rough: list prices of {prices.load().as_of}; what the mock answers has no price; run a pilot"
    assert f"{rough} (keval run check.yaml --limit 2)" in done.stdout
    (tmp_path / "check.yaml").write_text(f"{config.replace('type: echo', f'type: {agent}')}prices: {{mine: {OWN}}}\n")
    assert f" {prices.load().as_of} where the config gives none; " in keval("check", "check.yaml", "--mock").stdout
