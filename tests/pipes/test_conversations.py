"""A question of several messages through every command: none may stop at what is no text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Keval

CONFIG = """\
name: talk
dataset: {path: questions.jsonl}
agent: {type: command, command: [python, "{folder}/agent.py"], input: json}
conditions: {plain: {system_prompt: Answer.}, polite: {system_prompt: Please.}}
judges: [{type: exact_match}, {type: rubric, model: claude-sonnet-5}, {type: pairwise, model: claude-sonnet-5}]
execution: {repetitions: 1, retry: {max_attempts: 1}}
"""

AGENT = """\
import json, sys
print(json.load(sys.stdin)["turns"][-1], end="")
"""

SAMPLES = (
    {"id": "talk", "question": ["Which city?", "Rome."], "answer": "Rome.", "reference": "Rome.", "category": "a"},
    {"id": "plain", "question": "Paris.", "answer": "London.", "category": "b"},
)

LOG = "talk.mock.jsonl"

COMMANDS = (
    ["run", "eval.yaml", "--mock", "-q"],
    ["generate", "eval.yaml", "--mock", "-q", "-o", LOG],
    ["judge", LOG, "--mock", "-q"],
    *(["report", LOG, "-f", form] for form in ("text", "json")),
    ["aggregate", LOG],
    ["validate", LOG, "questions.jsonl", "eval.yaml"],
    ["summarize", LOG],
    ["summarize", LOG, "-f", "markdown"],
    ["calibrate", LOG, "-o", "sheet.md", "--include-passes"],
    ["calibrate", LOG, "-o", "sheet.jsonl", "--include-passes"],
    ["label", LOG, "--labeler", "ada", "--include-passes"],
    ["calibrate", LOG, "--read", "sheet.md", "--labeler", "ada"],
    ["sql", LOG, "SELECT sample -> 'question' FROM samples"],
    ["balance", "eval.yaml"],
    ["validate-refs", "eval.yaml", "--mock", "-q"],
    ["trials", "eval.yaml", "--mock", "-k", "1", "-q"],
    ["trials", "eval.yaml", "--mock", "-k", "1", "-q", "-f", "jsonl"],
    ["scan", LOG],
    ["import", "rows.jsonl", "-o", "imported.jsonl"],
    ["report", "imported.jsonl"],
)


@pytest.mark.slow
def test_no_command_stops_at_a_conversation(keval: Keval, tmp_path: Path) -> None:
    """Each ends well, and shows all messages where it shows a question."""
    (tmp_path / "questions.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in SAMPLES))
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps({**each, 'text': 'Rome.'})}\n" for each in SAMPLES))
    (tmp_path / "eval.yaml").write_text(CONFIG)
    (tmp_path / "agent.py").write_text(AGENT)
    said = {}
    for command in COMMANDS:
        done = keval(*command, stdin="v\n\nq\n" if command[0] == "label" else "")
        said[" ".join(command)] = done
    assert {name: done.returncode for name, done in said.items()} == dict.fromkeys(said, 0)
    for shown in (said[f"summarize {LOG} -f markdown"].stdout, (tmp_path / "sheet.md").read_text()):
        assert "> Which city?\n>\n> Rome." in shown
    imported = [json.loads(line) for line in (tmp_path / "imported.jsonl").read_text().splitlines()]
    questions = [event["sample"]["question"] for event in imported if event["type"] == "response"]
    assert questions == [sample["question"] for sample in SAMPLES]
