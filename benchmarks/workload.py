"""A config whose answers and judgments cost nothing: what is left of a run is keval's own work.

The echo agent gives every answer, exact_match judges it; two conditions, as in the smallest comparison.
"""

from __future__ import annotations

import json
from pathlib import Path

CONFIG = """\
name: workload
version: "1"
dataset: {{path: questions.jsonl}}
agent: {{type: echo, delay_s: {delay_s}}}
conditions:
  baseline: {{system_prompt: "Answer."}}
  with_docs: {{system_prompt: "Answer from the docs."}}
judge: {{type: exact_match}}
execution: {{repetitions: {repetitions}, max_concurrent: {at_once}}}
"""

GENERATE = ("generate", "eval.yaml", "-o", "log.jsonl", "-q")
JUDGE = ("judge", "log.jsonl", "-q")
RUN = ("run", "eval.yaml", "-o", "log.jsonl", "-q", "-f", "json")


def write(folder: Path, tasks: int, *, repetitions: int = 1, at_once: int = 8, delay_s: float = 0.0) -> None:
    """Write the config and its questions into a new folder; `delay_s` is how long an answer takes."""
    folder.mkdir(parents=True)
    config = CONFIG.format(repetitions=repetitions, at_once=at_once, delay_s=delay_s)
    (folder / "eval.yaml").write_text(config)
    write_questions(folder / "questions.jsonl", tasks // (2 * repetitions))


def write_questions(path: Path, number: int) -> None:
    """Write so many questions; the agent, which answers with the question, is right about two of three."""
    with path.open("w") as questions:
        for index in range(number):
            question = f"What does option {index} of the server do when it is given twice?"
            sample = {"id": f"s{index}", "question": question, "answer": question if index % 3 else "It depends."}
            questions.write(json.dumps(sample) + "\n")


def right_answers(number: int) -> int:
    """Return to how many of so many questions the agent's answer is right."""
    return sum(index % 3 > 0 for index in range(number))


def missing(log: Path, *, responses: int, judgments: int) -> str | None:
    """Return how a log falls short of what should be in it; None if it holds just that."""
    found = [0, 0]
    if log.exists():
        with log.open("rb") as lines:
            for line in lines:
                found[0] += line.startswith(b'{"type":"response"')
                found[1] += line.startswith(b'{"type":"judgment"')
    if found == [responses, judgments]:
        return None
    return f"{found[0]} responses and {found[1]} judgments, not {responses} and {judgments}"
