"""An evaluation whose conditions answer well, badly and in between, so that each pair has its verdict."""

from __future__ import annotations

import json
from pathlib import Path

from keval import projections

WRONG = '  wrong: {system_prompt: "nothing"}\n'
PAIRS = f"""\
name: pairs
dataset: {{path: questions.jsonl}}
agent: {{type: command, command: [python, "{{folder}}/agent.py"]}}
conditions:
  plain: {{system_prompt: "bananas"}}
  right: {{system_prompt: "kiwis are green fruit"}}
{WRONG}judges:
  - {{type: pairwise, model: claude-opus-5}}
  - {{type: exact_match}}
execution: {{repetitions: 1}}
"""
AGENT = """\
import json, sys
task = json.load(sys.stdin)
print("kiwis" if task["system_prompt"] == "bananas" else task["system_prompt"])
"""
PREFERENCES = {"plain": (0.5, 2), "right": (1.0, 2), "wrong": (0.0, 2)}
"""By condition the mean preference, and over how many judgments."""


def write_pairs(folder: Path) -> None:
    """Write the evaluation: two questions under three conditions."""
    (folder / "eval.yaml").write_text(PAIRS)
    (folder / "agent.py").write_text(AGENT)
    lines = [
        json.dumps({"id": str(number), "question": f"Kiwis, {number}?", "answer": "Kiwis are green fruit."})
        for number in (1, 2)
    ]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n")


def preferences(log: Path) -> dict[str, tuple[float, int]]:
    """Return the mean preference of each condition in a log, and over how many judgments."""
    query = "select condition, avg(score), count(*) from scores where metric = 'preference' group by all"
    with projections.connect([log]) as connection:
        return {condition: (score, n) for condition, score, n in connection.execute(query).fetchall()}
