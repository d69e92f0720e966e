"""What an executor is: it turns a spec into an outcome, wherever it does that.

It does not decide what is to be done, and tries nothing twice. Another one, for a cluster or a batch service,
is another class that has these methods.
"""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol

from keval.agents import Answer
from keval.executors.specs import AnswerSpec, JudgeSpec, Outcome
from keval.judges import Judgment


class Executor(Protocol):
    """Does one spec per call; many calls run at once. Raises nothing about one item: that is in the outcome."""

    def answer(self, spec: AnswerSpec) -> Awaitable[Outcome[Answer]]:
        """Ask the agent once."""

    def judge(self, spec: JudgeSpec) -> Awaitable[Outcome[Judgment]]:
        """Ask one judge once."""

    def release(self, workspace: Path) -> None:
        """Begin to remove the folder of an outcome that is written down; a second time there is nothing to remove."""

    async def move(self, workspace: Path, place: Path) -> None:
        """Move the folder of an outcome to where it stays. Raises OSError."""

    async def close(self) -> None:
        """End what is kept from item to item, such as connections, when all is done; no folder is left then."""
