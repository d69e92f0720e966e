"""Does the work in the process of the command itself."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path

from keval.agents import Answer
from keval.config.model import JudgeConfig
from keval.executors.answering import Answerer
from keval.executors.judge_calls import JudgeCaller
from keval.executors.specs import AnswerSpec, JudgeSpec, Outcome
from keval.judges import Judgment
from keval.models.prices import Prices


class InProcess:
    """Does the work in this process, on its event loop."""

    def __init__(self, answerer: Answerer | None, judge_caller: JudgeCaller) -> None:
        self._answerer = answerer
        self._judge_caller = judge_caller

    def answer(self, spec: AnswerSpec) -> Awaitable[Outcome[Answer]]:
        """Ask the agent once."""
        if self._answerer is None:
            raise LookupError("this executor was made without an agent")
        return self._answerer.answer(spec)

    def judge(self, spec: JudgeSpec) -> Awaitable[Outcome[Judgment]]:
        """Ask one judge once."""
        return self._judge_caller.judge(spec)

    def release(self, workspace: Path) -> None:
        """Begin to remove the folder of an outcome that is written down."""
        if self._answerer is not None:
            self._answerer.workspaces.remove(workspace)

    async def move(self, workspace: Path, place: Path) -> None:
        """Move the folder of an outcome to where it stays. Raises OSError."""
        if self._answerer is not None:
            await self._answerer.workspaces.move(workspace, place)

    async def close(self) -> None:
        """End what the agent keeps from task to task."""
        if self._answerer is not None:
            await self._answerer.close()


def judge_caller_of(
    judges: Iterable[JudgeConfig], judge_env: Mapping[str, str], program_env: Mapping[str, str], prices: Prices
) -> JudgeCaller:
    """Return who asks these judges.

    `judge_env` is what reaches the judges' models, `program_env` the whole environment of programs that judges start.
    """
    by_id = {judge.judge_id: judge.judge for judge in judges}
    return JudgeCaller(judges=by_id, env=judge_env, program_env=program_env, prices=prices)
