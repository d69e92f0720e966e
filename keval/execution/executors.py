"""Who does the work: an executor turns a spec into an outcome, wherever it does that.

It does not decide what is to be done, tries nothing twice, and writes nothing down. Another one, for
a cluster or a batch service, is another file with a class that has these three methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from keval.agents import Answer
from keval.config.model import JudgeConfig
from keval.execution.answering import Answerer
from keval.execution.scoring import Scorer
from keval.execution.specs import AnswerSpec, JudgeSpec, Outcome
from keval.judges import Judgment


class Executor(Protocol):
    """Does one spec per call; many calls run at once. Raises nothing about one item: that is in the outcome."""

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Ask the agent once."""

    async def judge(self, spec: JudgeSpec) -> Outcome[Judgment]:
        """Ask one judge once."""

    def release(self, workspace: Path) -> None:
        """Remove the folder of an outcome that is written down."""


class InProcess:
    """Does the work in this process, on its event loop."""

    def __init__(self, answerer: Answerer | None, scorer: Scorer) -> None:
        self._answerer = answerer
        self._scorer = scorer

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Ask the agent once."""
        if self._answerer is None:
            raise LookupError("this executor was made without an agent")
        return await self._answerer.answer(spec)

    async def judge(self, spec: JudgeSpec) -> Outcome[Judgment]:
        """Ask one judge once."""
        return await self._scorer.judge(spec)

    def release(self, workspace: Path) -> None:
        """Remove the folder of an outcome that is written down."""
        if self._answerer is not None:
            self._answerer.release(workspace)


def in_process(
    judges: Iterable[JudgeConfig],
    judge_env: Mapping[str, str],
    program_env: Mapping[str, str],
    answerer: Answerer | None = None,
) -> InProcess:
    """Return who does the work in this process, with these judges; without an answerer it only judges.

    `judge_env` is what reaches the judges' models, `program_env` the whole environment of programs that judges start.
    """
    by_id = {judge.judge_id: judge.judge for judge in judges}
    return InProcess(answerer, Scorer(judges=by_id, env=judge_env, program_env=program_env))
