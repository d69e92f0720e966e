"""Asks the agent for every response that is still missing and writes one event per task.

One task ends in one event: a `response`, or a `failure` that names its kind.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from keval.agents import AgentError, Answer, FailureKind, McpUse, Prompt, Turn
from keval.config.model import Condition, Config
from keval.errors import EnvironmentLacksError, ItemError
from keval.events import can_hold, encode, event, failure_id
from keval.execution.stage import EncodedEvent, Stage, Work, attempt_record, leaked_field, usage_field
from keval.execution.tasks import Task, turns
from keval.ids import JsonObject
from keval.processes import machine, temporary
from keval.processes.servers import expected_tools, launchable
from keval.usage import Usage

NO_WORKSPACE = Path(os.devnull)

OnResponse = Callable[[JsonObject, JsonObject], Awaitable[None]]
"""What is told of a response once it is safe: as the log has it, and unredacted, as the agent gave it."""


def turn_field(turn: Turn) -> JsonObject:
    """Return one turn as events hold it; arguments of a call that none can hold are not known."""
    if turn.type == "text":
        return {"type": "text", "text": turn.text or ""}
    return {
        "type": "tool_call",
        "id": turn.id,
        "name": turn.name or "",
        "server": turn.server,
        "input": dict(turn.input) if turn.input is not None and can_hold(dict(turn.input)) else None,
        "result": turn.result,
        "error": bool(turn.error),
        "duration_ms": turn.duration_ms,
    }


def mcp_field(uses: Mapping[str, McpUse]) -> JsonObject:
    """Return what became of each MCP server, as events hold it."""
    return {name: {**asdict(use), "offered": list(use.offered)} for name, use in uses.items()}


@dataclass(frozen=True, kw_only=True)
class Generation(Stage[Task]):
    """One run of the `generate` stage."""

    config: Config
    env: Mapping[str, str]
    """The whole environment of the agent's processes."""
    on_response: OnResponse | None = None
    """Told of each response once it is safe, as `keval run` does to judge it."""

    def kind(self, item: Task) -> str:
        """Return the task's condition."""
        return item.condition.name

    async def attempt(self, work: Work[Task]) -> JsonObject:
        """Ask the agent once and return its response. Raises AgentError."""
        try:
            given = await self._within_time(work)
        except (AgentError, EnvironmentLacksError, OSError, MemoryError) as error:
            raise _blamed(error) from error
        answer = replace(given, cost_usd=self._cost_usd(given))
        _check_gates(work.item.condition, answer)
        return self._response(work, answer)

    async def _within_time(self, work: Work[Task]) -> Answer:
        execution = self.config.execution
        loop = asyncio.get_running_loop()
        so_far: Answer | None = None
        folder = self._workspace(work)
        try:
            async with asyncio.timeout(execution.timeout_s), asyncio.timeout(execution.idle_timeout_s) as idle:

                def on_life(partial: Answer) -> None:
                    nonlocal so_far
                    so_far = partial
                    if execution.idle_timeout_s is not None and not idle.expired():
                        idle.reschedule(loop.time() + execution.idle_timeout_s)

                return await self._ask(self._prompt(work.item, folder, on_life))
        except TimeoutError:
            limit = "with no sign of life" if idle.expired() else "in all"
            seconds = execution.idle_timeout_s if idle.expired() else execution.timeout_s
            raise AgentError("timeout", f"no answer: {seconds:g} s {limit}", partial=so_far) from None
        except AgentError as error:
            error.partial = error.partial or so_far
            raise

    def _workspace(self, work: Work[Task]) -> Path:
        """Return the attempt's folder, which is there until the attempt's event is safe."""
        if not self.config.agent.agent.uses_workspace:
            return NO_WORKSPACE
        return work.remains.enter_context(temporary.folder())

    async def _ask(self, prompt: Prompt) -> Answer:
        try:
            return await self.config.agent.agent.answer(prompt)
        except AgentError:
            raise
        except Exception as error:  # foreign code: a plug-in's surprise is about this task only
            raise AgentError("agent_error", f"{type(error).__name__}: {error}") from error

    def _prompt(self, task: Task, folder: Path, so_far: Callable[[Answer], None]) -> Prompt:
        secrets = self.config.secrets
        question = str(task.sample["question"])
        return Prompt(
            question=question,
            turns=turns(task.sample),
            system_prompt=secrets.resolve(task.condition.system_prompt),
            mcp_servers=resolved_servers(self.config, task.condition.mcp_servers),
            expected_tools=expected_tools(task.condition.mcp_servers),
            repetition=task.repetition,
            workspace=folder,
            folder=self.config.path.parent,
            env=self.env,
            so_far=so_far,
        )

    def _response(self, work: Work[Task], answer: Answer) -> JsonObject:
        agent, task = self.config.agent, work.item
        return event(
            "response",
            task.response_id,
            self.run_id,
            sample=task.sample,
            sample_sha256=task.sample_sha256,
            question_id=task.question_id,
            **_coordinates(task),
            agent={"name": agent.name, "type": agent.type, "model": agent.model},
            agent_id=agent.agent_id,
            status=answer.status,
            text=answer.text,
            **_record(answer),
            sources=list(answer.sources),
            cost_usd=answer.cost_usd,
            duration_ms=work.duration_ms,
            num_turns=answer.num_turns,
            models=list(answer.models),
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            mock=self.mock,
        )

    def invalid(self, event: JsonObject, message: str) -> ItemError:
        """Return the error of an answer that no log can hold."""
        usage = event["usage"] and Usage(**event["usage"])
        return AgentError("agent_error", message, partial=Answer("empty", "", usage=usage, cost_usd=event["cost_usd"]))

    def keep_cost(self, work: Work[Task], error: ItemError, *, usage: bool) -> None:  # noqa: ARG002 - the base's
        """Take from an error all that is known of its attempt but the cost, and the usage where that is to stay."""
        if isinstance(error, AgentError):
            known = _known(error)
            error.partial = Answer("empty", "", usage=known.usage if usage else None, cost_usd=known.cost_usd)

    def failed_attempt(self, work: Work[Task], error: ItemError) -> JsonObject:
        """Return the record of an attempt that failed."""
        partial = _known(error)
        return attempt_record(error, work.duration_ms, partial.usage, partial.cost_usd, partial.leaked)

    def failure(self, work: Work[Task], error: ItemError) -> JsonObject:
        """Return the event of a task that got no response."""
        task, partial = work.item, _known(error)
        return event(
            "failure",
            failure_id(task.response_id, self.run_id),
            self.run_id,
            stage="generate",
            kind=error.kind,
            message=error.message,
            sample_id=task.sample["id"],
            sample_sha256=task.sample_sha256,
            question_id=task.question_id,
            **_coordinates(task),
            agent_id=self.config.agent.agent_id,
            response_id=task.response_id,
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            cost_usd=partial.cost_usd,
            duration_ms=work.duration_ms,
            **_record(partial),
            mock=self.mock,
        )

    async def done(self, encoded: EncodedEvent) -> None:
        """Tell of a response as a resume will read it, and as the agent gave it.

        A judgment's id is made from the text that the log has. What is judged is what the agent said:
        a secret that is also the right word must not make its answer wrong.
        """
        if self.on_response is not None and encoded.event["type"] == "response":
            logged = orjson.loads(encoded.line)
            is_same = encoded.unredacted == encoded.event
            unredacted = logged if is_same else orjson.loads(encode(encoded.unredacted))
            await self.on_response(logged, unredacted)

    def _cost_usd(self, answer: Answer) -> float | None:
        """Return what the agent says that it cost, else its tokens at the price that the config gives its model.

        What several models used together has no one price, and what a failure used may not all be told.
        """
        if answer.cost_usd is not None or answer.usage is None or len(answer.models) > 1:
            return answer.cost_usd
        prices = self.config.prices
        own = [model for model in (*answer.models, self.config.agent.model) if prices.is_own(model)]
        return prices.cost_usd(own[0], answer.usage) if own else None


def resolved_servers(config: Config, servers: Mapping[str, Mapping[str, Any]]) -> dict[str, JsonObject]:
    """Return servers with `${VAR}` resolved and ready to start: never to be logged."""
    return {name: launchable(config.secrets.resolve(server), config.path.parent) for name, server in servers.items()}


def _coordinates(task: Task) -> JsonObject:
    return {"condition": task.condition.name, "condition_id": task.condition_id, "repetition": task.repetition}


def _record(answer: Answer) -> JsonObject:
    return {
        "turns": [turn_field(turn) for turn in answer.turns],
        "mcp": mcp_field(answer.mcp),
        "usage": usage_field(answer.usage),
        **leaked_field(answer.leaked),
    }


def _known(error: ItemError) -> Answer:
    """Return what is known of an attempt that failed."""
    partial = error.partial if isinstance(error, AgentError) else None
    return partial or Answer("empty", "")


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


def _check_gates(condition: Condition, answer: Answer) -> None:
    """Raise AgentError when the answer does not meet the condition's gates; only MCP calls count."""

    def refusal(kind: FailureKind, message: str) -> AgentError:
        return AgentError(kind, message, retryable=condition.gates.retry_gates, partial=answer)

    called = sum(use.called for use in answer.mcp.values())
    failed = sum(use.failed for use in answer.mcp.values())
    if condition.gates.require_mcp_tool_use and not called:
        raise refusal("mcp_unused", "the condition requires an MCP tool call and there was none")
    if condition.gates.require_mcp_tool_success and called and called == failed:
        raise refusal("mcp_all_failed", f"all {called} MCP tool calls failed")
