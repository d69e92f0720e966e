"""Asks the agent one question: prompt, time limits, workspace; what comes of it is plain data.

Whatever an agent does, its task ends in an outcome. Secrets are resolved here, where the agent is
started, and nowhere before.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keval.agents import Agent, AgentError, Answer, OpenAgent, Prompt
from keval.errors import EnvironmentLacksError
from keval.executors.plugin_errors import FOREIGN, is_cancelled_by_us
from keval.executors.specs import AnswerSpec, Outcome
from keval.executors.workspaces import Workspaces
from keval.ids import JsonObject
from keval.models.prices import Prices, load
from keval.processes import machine
from keval.processes.local_files import LocalFile
from keval.processes.servers import expected_tools, launchable
from keval.processes.workspace_template import TemplateError
from keval.retry import Failed
from keval.scheduling.deadlines import Deadlines
from keval.secrets.variables import Secrets
from keval.usage import Usage

if TYPE_CHECKING:
    from keval.models.messages_api import Asking

NO_WORKSPACE = Path(os.devnull)

NOTHING = Answer("empty", "")
"""What is known of an attempt of which nothing is known."""


@dataclass
class _Opened:
    """The agent as it is opened for the first task, until it is closed."""

    current: OpenAgent | None = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def opened(self, agent: Agent) -> OpenAgent:
        """Return who answers; opens the agent if it is not open."""
        async with self._opening:
            if self.current is None:
                self.current = await self._stack.enter_async_context(agent.opened())
        return self.current

    async def close(self) -> None:
        """End what the agent keeps."""
        self.current = None
        await self._stack.aclose()


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
    files: Sequence[LocalFile] = ()
    """The files that made the agent what it was when the command began."""
    workspaces: Workspaces = field(default_factory=Workspaces, repr=False)
    prices: Prices = field(default_factory=load)
    _opened: _Opened = field(default_factory=_Opened, repr=False)
    _deadlines: Deadlines = field(default_factory=Deadlines, repr=False)

    async def answer(self, spec: AnswerSpec, asking: Asking | None = None) -> Outcome[Answer]:
        """Ask the agent once. The outcome's workspace is there until it is removed or moved.

        `asking` asks its model in another way than each call by itself; no time limit is put on that.
        """
        began = time.monotonic()
        try:
            workspace = await self.workspaces.new() if self.agent.uses_workspace else None
        except (EnvironmentLacksError, OSError, MemoryError) as error:
            return _failed(_blamed(error), began, None)
        try:
            answer = await (
                self._within_time(spec, workspace)
                if asking is None
                else self._ask(self._prompt(spec, workspace, lambda _: None, asking))
            )
        except (AgentError, EnvironmentLacksError, OSError, MemoryError) as error:
            return _failed(self._without_a_file(error) or _blamed(error), began, workspace)
        except BaseException:
            if workspace is not None:
                self.workspaces.remove(workspace)
            raise
        return Outcome(answer, _since(began), workspace=workspace)

    def _without_a_file(self, error: Exception) -> AgentError | None:
        """Return the failure of a task whose agent has lost a file: nobody knows what it would have answered."""
        if not isinstance(error, AgentError) or error.kind != "agent_error":
            return None
        gone = next((file.path for file in self.files if file.is_gone), None)
        if gone is None:
            return None
        told = f"{gone} is gone, a file of the agent: {error.message}"
        return AgentError("infra_error", told, retryable=True, partial=error.partial)

    async def close(self) -> None:
        """End what the agent keeps from task to task; another task would begin it anew."""
        try:
            await self.workspaces.close()
        finally:
            await self._opened.close()

    async def _within_time(self, spec: AnswerSpec, workspace: Path | None) -> Answer:
        loop = asyncio.get_running_loop()
        began, idle_s = loop.time(), self.idle_timeout_s or inf
        timeout_s = self.timeout_s if spec.timeout_s is None else spec.timeout_s
        end = began + timeout_s
        so_far: Answer | None = None
        # One deadline for both limits: whichever is next.
        limit = self._deadlines.until(min(end, began + idle_s))

        def on_heartbeat(partial: Answer) -> None:
            nonlocal so_far
            so_far = partial
            if idle_s < inf and not limit.has_passed:
                limit.at_s = min(end, loop.time() + idle_s)

        try:
            with limit:
                return await self._ask(self._prompt(spec, workspace, on_heartbeat))
        except TimeoutError:
            pass
        except AgentError as error:
            so_far = error.partial = error.partial or so_far
            if not limit.has_passed:
                raise
            # What failed is the agent's clean-up: it has no answer because it was cancelled.
        in_all = limit.at_s == end
        told = f"{timeout_s:g} s in all" if in_all else f"{self.idle_timeout_s:g} s without a heartbeat"
        if (held_up := self.agent.held_up(self.folder, began)) is not None:
            raise AgentError("infra_error", f"no answer: {told}; {held_up}", partial=so_far)
        raise AgentError("timeout", f"no answer: {told}", partial=so_far)

    async def _ask(self, prompt: Prompt) -> Answer:
        try:
            answers = self._opened.current or await self._opened.opened(self.agent)
            answer = await answers.answer(prompt)
        except AgentError:
            raise
        except FOREIGN as error:  # a plug-in's surprise is about this task only
            if is_cancelled_by_us(error):
                raise
            raise AgentError("agent_error", f"{type(error).__name__}: {error}") from error
        if not isinstance(answer, Answer) or not isinstance(answer.usage, Usage | None):
            raise AgentError("agent_error", f"the agent's code returned what is no answer: {type(answer).__name__}")
        return answer

    def _prompt(
        self,
        spec: AnswerSpec,
        workspace: Path | None,
        heartbeat: Callable[[Answer], None],
        asking: Asking | None = None,
    ) -> Prompt:
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
            asking=asking,
            prices=self.prices,
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
    if isinstance(error, TemplateError):
        return AgentError("infra_error", str(error))
    lacked = machine.exhausted(error)
    if lacked is None and isinstance(error, AgentError):
        return error
    # A task without a folder to work in, for whatever reason, was not even asked.
    told = f"the machine has no more for this task: {lacked}" if lacked else "the task got no folder to work in"
    partial = error.partial if isinstance(error, AgentError) else None
    said = error.message if isinstance(error, AgentError) else str(error)
    return AgentError("infra_error", f"{told} ({said})", retryable=True, overloaded=True, partial=partial)
