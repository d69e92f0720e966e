"""Asks the agent one question: prompt, time limits, workspace; what comes of it is plain data.

Whatever an agent does, its task ends in an outcome. Secrets are resolved here, where the agent is
started, and nowhere before.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keval.agents import Agent, AgentError, Answer, Prompt
from keval.errors import EnvironmentLacksError
from keval.execution.plugin_errors import FOREIGN, is_cancelled_by_us
from keval.execution.specs import AnswerSpec, Failed, Outcome
from keval.ids import JsonObject
from keval.processes import machine, temporary
from keval.processes.servers import expected_tools, launchable
from keval.secrets.variables import Secrets
from keval.usage import Usage

NO_WORKSPACE = Path(os.devnull)

NOTHING = Answer("empty", "")
"""What is known of an attempt of which nothing is known."""


@dataclass(frozen=True, kw_only=True)
class Answerer:
    """The agent of a run, with all that it needs to be asked."""

    agent: Agent
    folder: Path
    """The config's folder, where servers start and to which paths are relative."""
    env: Mapping[str, str]
    """The whole environment of the agent's processes."""
    secrets: Secrets
    timeout_s: float
    idle_timeout_s: float | None = None
    _workspaces: dict[Path, ExitStack] = field(default_factory=dict, repr=False)

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Ask the agent once. The outcome's workspace is there until it is released."""
        began = time.monotonic()
        try:
            workspace = self._workspace()
        except (EnvironmentLacksError, OSError, MemoryError) as error:
            return _failed(_blamed(error), began, None)
        try:
            answer = await self._within_time(spec, workspace)
        except (AgentError, EnvironmentLacksError, OSError, MemoryError) as error:
            return _failed(_blamed(error), began, workspace)
        except BaseException:
            if workspace is not None:
                self.release(workspace)
            raise
        return Outcome(answer, _since(began), workspace=workspace)

    def release(self, workspace: Path) -> None:
        """Remove the folder of an outcome; a second time there is nothing to remove."""
        self._workspaces.pop(workspace, ExitStack()).close()

    def _workspace(self) -> Path | None:
        """Return a new folder, None for an agent that uses none."""
        if not self.agent.uses_workspace:
            return None
        with ExitStack() as made:
            workspace = made.enter_context(temporary.folder())
            self._workspaces[workspace] = made.pop_all()
        return workspace

    async def _within_time(self, spec: AnswerSpec, workspace: Path | None) -> Answer:
        loop = asyncio.get_running_loop()
        so_far: Answer | None = None
        try:
            async with asyncio.timeout(self.timeout_s), asyncio.timeout(self.idle_timeout_s) as idle:

                def on_heartbeat(partial: Answer) -> None:
                    nonlocal so_far
                    so_far = partial
                    if self.idle_timeout_s is not None and not idle.expired():
                        idle.reschedule(loop.time() + self.idle_timeout_s)

                return await self._ask(self._prompt(spec, workspace, on_heartbeat))
        except TimeoutError:
            limit = "without a heartbeat" if idle.expired() else "in all"
            seconds = self.idle_timeout_s if idle.expired() else self.timeout_s
            raise AgentError("timeout", f"no answer: {seconds:g} s {limit}", partial=so_far) from None
        except AgentError as error:
            error.partial = error.partial or so_far
            raise

    async def _ask(self, prompt: Prompt) -> Answer:
        try:
            answer = await self.agent.answer(prompt)
        except AgentError:
            raise
        except FOREIGN as error:  # a plug-in's surprise is about this task only
            if is_cancelled_by_us(error):
                raise
            raise AgentError("agent_error", f"{type(error).__name__}: {error}") from error
        if not isinstance(answer, Answer) or not isinstance(answer.usage, Usage | None):
            raise AgentError("agent_error", f"the agent's code returned what is no answer: {type(answer).__name__}")
        return answer

    def _prompt(self, spec: AnswerSpec, workspace: Path | None, heartbeat: Callable[[Answer], None]) -> Prompt:
        return Prompt(
            question=spec.turns[-1],
            turns=spec.turns,
            system_prompt=self.secrets.resolve(spec.system_prompt),
            mcp_servers=resolved_servers(spec.mcp_servers, self.secrets, self.folder),
            expected_tools=expected_tools(spec.mcp_servers),
            repetition=spec.repetition,
            workspace=workspace or NO_WORKSPACE,
            folder=self.folder,
            env=self.env,
            heartbeat=heartbeat,
        )


def resolved_servers(servers: Mapping[str, Mapping[str, Any]], secrets: Secrets, folder: Path) -> dict[str, JsonObject]:
    """Return servers with `${VAR}` resolved and ready to start: never to be logged."""
    return {name: launchable(secrets.resolve(server), folder) for name, server in servers.items()}


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def _failed(error: AgentError, began: float, workspace: Path | None) -> Outcome[Answer]:
    return Outcome(error.partial or NOTHING, _since(began), Failed.of(error), workspace)


def _blamed(error: AgentError | EnvironmentLacksError | OSError | MemoryError) -> AgentError:
    """Return the failure, of the machine if that had no more of what the agent, or keval for it, wanted."""
    lacked = machine.exhausted(error)
    if lacked is None and isinstance(error, AgentError):
        return error
    # A task without a folder to work in, for whatever reason, was not even asked.
    told = f"the machine has no more for this task: {lacked}" if lacked else "the task got no folder to work in"
    partial = error.partial if isinstance(error, AgentError) else None
    said = error.message if isinstance(error, AgentError) else str(error)
    return AgentError("infra_error", f"{told} ({said})", retryable=True, overloaded=True, partial=partial)
