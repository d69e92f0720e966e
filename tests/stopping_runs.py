"""Runs that stop when decided, in this process: real sessions, whose agent answers right as often as it is told."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from keval.agents import Answer
from keval.config.reader import load
from keval.config.until_section import Given, wanted
from keval.execution.config_session import run_all
from keval.executors.in_process import InProcess, judge_caller_of
from keval.executors.specs import AnswerSpec, JudgeSpec, Outcome
from keval.ids import JsonObject
from keval.judges import Judgment
from keval.preparation.request import Request
from keval.retry import Failed

CONFIG = """\
name: until
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  plain: {system_prompt: "plain"}
  other: {system_prompt: "other"}
judges: [{type: exact_match}]
execution: {repetitions: 1, max_concurrent: CONCURRENT, retry: {max_attempts: 1}}
"""


class Drawn:
    """Answers `yes`, which is right, as often as each system prompt says; the draw is a hash of seed and question."""

    def __init__(
        self,
        config: Path,
        right: Mapping[str, float],
        seed: int = 0,
        fails: float = 0.0,
        *,
        fails_as: str = "infra_error",
    ) -> None:
        read = load(config)
        self._judges = InProcess(None, judge_caller_of(read.judges, {}, {}, read.prices))
        self._right = right
        self._seed = seed
        self._fails = fails
        self._fails_as = fails_as
        self.asked: list[tuple[str, str]] = []
        self.slow: Callable[[str, str], float] = lambda _question, _prompt: 0.0

    def share(self, *names: object) -> float:
        """Return a number between 0 and 1 that is drawn for these names."""
        digest = hashlib.sha256(" ".join(map(str, (self._seed, *names))).encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Answer right or wrong, or fail; by default for a reason that is not the agent's."""
        question, prompt = spec.turns[-1], spec.system_prompt
        self.asked.append((question, prompt))
        await asyncio.sleep(self.slow(question, prompt))
        if self.share("fails", question, prompt, spec.repetition) < self._fails:
            return Outcome(Answer("empty", ""), 1, Failed(self._fails_as, "the line is busy"))
        text = "yes" if self.share(question, prompt, spec.repetition) < self._right[prompt] else "no"
        return Outcome(Answer("answered", text, cost_usd=0.01), 1)

    def judge(self, spec: JudgeSpec) -> Awaitable[Outcome[Judgment]]:
        """Let the config's judges judge."""
        return self._judges.judge(spec)

    def release(self, workspace: Path) -> None:
        """Do nothing: there are no folders."""

    async def move(self, workspace: Path, place: Path) -> None:
        """Do nothing: there are no folders."""

    async def close(self) -> None:
        """Do nothing: nothing is kept."""


def write_evaluation(folder: Path, samples: int = 100, *, concurrent: int = 4, more: str = "") -> Path:
    """Write a config whose right answer is always `yes`, and its dataset; return the config's path."""
    (folder / "eval.yaml").write_text(CONFIG.replace("CONCURRENT", str(concurrent)) + more)
    records = [{"id": f"s{number}", "question": f"Question {number}?", "answer": "yes"} for number in range(samples)]
    (folder / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    return folder / "eval.yaml"


def run(
    config: Path,
    log: Path,
    executor: Any,  # noqa: ANN401 - one of this file, or one that wraps it
    given: Given = Given(until="decided"),  # noqa: B008 - it is frozen
    **request: Any,  # noqa: ANN401 - fields of a request
) -> list[str]:
    """Run a config until it is decided; return what was told."""
    told: list[str] = []
    read = load(config)
    until = wanted(read.as_written, given)
    asked = Request(until=until, complete=given.until == "complete", quiet=True)
    run_all(read, log, replace(asked, **request), told.append, executor)
    return told


def events(log: Path, *types: str) -> list[JsonObject]:
    """Return the events of a log that are of these types."""
    found = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    return [each for each in found if each["type"] in types]
