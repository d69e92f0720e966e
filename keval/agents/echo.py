"""Answers with the question itself, or with a fixed text: no model, no process, no cost.

For trying a config out, for tests, and for measuring keval's own speed.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar

from keval.agents import Agent, Answer, Prompt, Turn
from keval.plugins import option
from keval.usage import Usage


@dataclass(frozen=True, kw_only=True)
class Echo(Agent):
    """An agent without a model."""

    uses_models: ClassVar[bool] = False
    is_free: ClassVar[bool] = True
    uses_workspace: ClassVar[bool] = False
    takes_turns: ClassVar[bool] = True
    open_files: ClassVar[int] = 0

    text: str | None = field(default=None, metadata=option("the answer to every question; default: the question"))
    delay_s: float = field(default=0.0, metadata=option("seconds until the answer", identity=False))

    def __post_init__(self) -> None:
        if self.delay_s < 0:
            raise ValueError("delay_s: must not be negative")

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer with the last message of the user, or with `text`."""
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        text = prompt.turns[-1] if self.text is None else self.text
        return Answer(
            status="answered" if text.strip() else "empty",
            text=text,
            turns=(Turn("text", text=text),),
            usage=Usage(0, 0, 0, 0),
            cost_usd=0.0,
            num_turns=len(prompt.turns),
        )
