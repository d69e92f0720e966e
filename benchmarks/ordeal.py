"""What keval has to go through in the benchmark of kills: the work, what is killed, and what it came to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WHOLE = ("run", "eval.yaml", "-o", "run.jsonl", "-q", "-f", "json")
GENERATE = ("generate", "eval.yaml", "-o", "run.jsonl", "-q")
JUDGE = ("judge", "run.jsonl", "-q")
COMMANDS = ((WHOLE,), (WHOLE,), (GENERATE,), (JUDGE,), (JUDGE,), (GENERATE, JUDGE))
"""What is killed: one command, or two that write to one log at once."""

ECHO = "{type: echo, delay_s: 0.02}"
PROGRAM = '{type: command, command: [python, -S, "{folder}/ask.py"], env: {SERVICE: "${ANTHROPIC_BASE_URL}"}}'
CLAUDE = "{type: claude, model: claude-sonnet-5}"

CONFIG = """\
name: kills
version: "1"
dataset: {{path: questions.jsonl}}
agent: {agent}
conditions:
  plain: {{system_prompt: "Answer."}}
  polite: {{system_prompt: "Answer politely."}}
judge: {{type: rubric, model: claude-opus-5}}
execution: {{repetitions: {repetitions}, max_concurrent: {at_once}, timeout_s: 60}}
"""

ASK = """\
import http.client, json, os, sys
asked = json.load(sys.stdin)
connection = http.client.HTTPConnection(os.environ["SERVICE"].removeprefix("http://"), timeout=30)
body = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": asked["question"]}]}
connection.request("POST", "/v1/messages", json.dumps(body), {"x-api-key": "any"})
print(json.load(connection.getresponse())["content"][0]["text"])
"""
"""An agent that is a program: it asks the service once, through nothing but the standard library."""


@dataclass(frozen=True, kw_only=True)
class Ordeal:
    """What is to be gone through."""

    agent: str
    paid_agent: bool
    """Whether the agent's own requests reach the service: one per answer."""
    samples: int
    repetitions: int
    """How many there are at first; each time that the work is done before the kills are, there is one more."""
    kills: int
    seed: int
    at_once: int = 4
    commands: tuple[tuple[tuple[str, ...], ...], ...] = COMMANDS

    def tasks(self, repetitions: int) -> int:
        """Return how many answers, and as many judgments, a log of so many repetitions has."""
        return 2 * self.samples * repetitions

    def write_config(self, folder: Path, repetitions: int) -> None:
        """Write the config for so many repetitions."""
        config = CONFIG.format(agent=self.agent, repetitions=repetitions, at_once=self.at_once)
        (folder / "eval.yaml").write_text(config)

    def write(self, folder: Path, repetitions: int) -> None:
        """Write config, dataset and the agent's program."""
        folder.mkdir(parents=True)
        self.write_config(folder, repetitions)
        (folder / "ask.py").write_text(ASK)
        (folder / "scratch").mkdir()
        with (folder / "questions.jsonl").open("w") as questions:
            for number in range(self.samples):
                text = f"what is the {number}th of all the things that there are, ‹{number}›?"
                questions.write(json.dumps({"id": f"s{number}", "question": text, "answer": f"the {number}th thing"}))
                questions.write("\n")


@dataclass(frozen=True, slots=True)
class Bill:
    """How many answers and judgments the service gave, or the log holds."""

    answers: int
    judgments: int


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill, and what was lost by it: paid, and not in the log."""

    commands: str
    when: str
    lost: Bill
    allowed: Bill
    """What may have been in flight: the commands' own limit, and the line that was cut off."""
    torn: bool
    orphans_s: float
    """How long processes that the killed one had started went on without it."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """All that an ordeal came to."""

    kills: list[Kill]
    tasks: int
    """How many answers, and as many judgments, there were to be at the end."""
    seconds: float
    events: list[dict[str, Any]]
    undisturbed: list[dict[str, Any]]
    paid: Bill
    undisturbed_paid: Bill
    torn: set[bytes]
    """The cut-off lines, which have to be in the file beside the log."""
    log: Path

    @property
    def excess(self) -> Bill:
        """What was paid more than without any kill."""
        return Bill(
            self.paid.answers - self.undisturbed_paid.answers, self.paid.judgments - self.undisturbed_paid.judgments
        )

    @property
    def allowed(self) -> Bill:
        """What was in flight at all kills at most."""
        return Bill(
            sum(kill.allowed.answers for kill in self.kills), sum(kill.allowed.judgments for kill in self.kills)
        )
