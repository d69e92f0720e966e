from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from keval.agents import Agent, AgentError, Answer, Prompt
from keval.executors.answering import Answerer
from keval.executors.specs import AnswerSpec
from keval.failure_kinds import AgentFailureKind
from keval.processes.local_files import named_by
from keval.retry import Failed
from keval.secrets.variables import Secrets


@dataclass(frozen=True, kw_only=True)
class Failing(Agent):
    """An agent that answers nothing, and whose file another may have removed meanwhile."""

    kind: AgentFailureKind
    script: Path
    removes: bool

    async def answer(self, prompt: Prompt) -> Answer:
        if self.removes:
            self.script.unlink()
        raise AgentError(self.kind, "exit status 2", partial=Answer("empty", prompt.question))


@pytest.mark.parametrize(
    ("kind", "removes", "becomes"),
    [
        ("agent_error", True, "infra_error"),
        ("agent_error", False, "agent_error"),
        ("timeout", True, "timeout"),
    ],
)
async def test_a_failure_without_a_file_of_the_agent_is_no_bad_answer(
    tmp_path: Path, kind: AgentFailureKind, removes: bool, becomes: str
) -> None:
    """A script that is removed in the course of a run is named, and its tasks count as not asked."""
    script = tmp_path / "v.sh"
    script.write_text("echo 4\n")
    answerer = Answerer(
        agent=Failing(kind=kind, script=script, removes=removes),
        folder=tmp_path,
        env={},
        secrets=Secrets({}),
        timeout_s=10,
        files=named_by(["sh", str(script)], tmp_path),
    )
    outcome = await answerer.answer(AnswerSpec(("Q",), "", {}, 1, "r1"))
    assert outcome.failed is not None
    assert (outcome.failed.kind, outcome.known.text) == (becomes, "Q")
    if becomes == "infra_error":
        assert outcome.failed.message == f"{script} is gone, a file of the agent: exit status 2"
        assert outcome.failed.retryable
    if outcome.workspace is not None:
        answerer.workspaces.remove(outcome.workspace)


@dataclass(frozen=True, kw_only=True)
class Clumsy(Agent):
    """An agent that fails when it is told to end."""

    error: Exception
    heartbeats: bool = False

    async def answer(self, prompt: Prompt) -> Answer:
        if self.heartbeats:
            prompt.heartbeat(Answer("empty", "so far"))
        try:
            await asyncio.Event().wait()
        finally:
            raise self.error


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        (Clumsy(error=AgentError("agent_error", "no end", partial=Answer("empty", "at the end"))), "at the end"),
        (Clumsy(error=AgentError("infra_error", "no end", retryable=True), heartbeats=True), "so far"),
        (Clumsy(error=ValueError("no end")), ""),
    ],
)
async def test_an_agent_that_fails_when_its_time_is_over_had_no_more_time(agent: Agent, text: str) -> None:
    """Whatever its clean-up raises, the failure is the limit's, with what is known of the answer."""
    answerer = Answerer(agent=agent, folder=Path(), env={}, secrets=Secrets({}), timeout_s=0.01)
    outcome = await answerer.answer(AnswerSpec(("Q",), "", {}, 1, "r1"))
    assert (outcome.failed, outcome.known.text) == (Failed("timeout", "no answer: 0.01 s in all"), text)
    if outcome.workspace is not None:
        answerer.workspaces.remove(outcome.workspace)
    await answerer.close()


@dataclass(frozen=True, kw_only=True)
class HeldUp(Clumsy):
    """An agent that something else holds up."""

    def held_up(self, folder: Path, since_s: float) -> str | None:
        return f"held up in {folder} for {time.monotonic() - since_s:.0f} s"


async def test_an_agent_that_something_else_held_up_did_not_answer_badly() -> None:
    """Its time is over, and nobody can tell whether it would have answered: a time-out counts as the worst answer."""
    agent = HeldUp(error=AgentError("agent_error", "no end"))
    answerer = Answerer(agent=agent, folder=Path(), env={}, secrets=Secrets({}), timeout_s=0.01)
    outcome = await answerer.answer(AnswerSpec(("Q",), "", {}, 1, "r1"))
    assert outcome.failed == Failed("infra_error", "no answer: 0.01 s in all; held up in . for 0 s")
    if outcome.workspace is not None:
        answerer.workspaces.remove(outcome.workspace)
    await answerer.close()
