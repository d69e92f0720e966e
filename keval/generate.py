"""Asks the agent for every response that is still missing and writes one event per task.

One task ends in one event: a `response`, or a `failure` that names its kind. One task's failure
never touches another.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from keval.agents import AgentError, Answer, McpUse, Prompt, Turn, Usage
from keval.budget import Ledger, total_usd
from keval.config import Condition, Config, Retry
from keval.errors import ItemError
from keval.events import encode, event, failure_id
from keval.ids import JsonObject
from keval.progress import Progress
from keval.run import Limiter, attempts, work_off
from keval.servers import expected_tools, launchable
from keval.stream import Sink
from keval.tasks import Task

NO_WORKSPACE = Path(os.devnull)

OnResponse = Callable[[JsonObject], Awaitable[None]]
"""What is told of a response once it is safe."""


def attempt_record(
    error: ItemError, usage: Usage | None, cost_usd: float | None, started: float
) -> JsonObject:
    """Return the record of one failed attempt; `started` is its `time.monotonic()`."""
    return {
        "kind": error.kind,
        "message": error.message,
        "cost_usd": cost_usd,
        "usage": usage_field(usage),
        "duration_ms": milliseconds_since(started),
    }


def usage_field(usage: Usage | None) -> JsonObject | None:
    """Return token counts as events hold them."""
    return None if usage is None else asdict(usage)


def milliseconds_since(started: float) -> int:
    """Return the time since a `time.monotonic()`, in milliseconds."""
    return round((time.monotonic() - started) * 1000)


def turn_field(turn: Turn) -> JsonObject:
    """Return one turn as events hold it."""
    if turn.type == "text":
        return {"type": "text", "text": turn.text or ""}
    return {
        "type": "tool_call",
        "id": turn.id,
        "name": turn.name or "",
        "server": turn.server,
        "input": None if turn.input is None else dict(turn.input),
        "result": turn.result,
        "error": bool(turn.error),
        "duration_ms": turn.duration_ms,
    }


def mcp_field(uses: Mapping[str, McpUse]) -> JsonObject:
    """Return what became of each MCP server, as events hold it."""
    return {name: {**asdict(use), "offered": list(use.offered)} for name, use in uses.items()}


@dataclass
class _Work:
    """One task while it is worked on."""

    task: Task
    started: float = field(default_factory=time.monotonic)
    so_far: Answer | None = None
    failed: list[JsonObject] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Generation:
    """One run of the `generate` stage."""

    config: Config
    run_id: str
    sink: Sink
    env: Mapping[str, str]
    """The whole environment of the agent's processes."""
    mock: bool
    progress: Progress
    ledger: Ledger
    stop: asyncio.Event
    """Set by the user or by a budget that is reached: no new tasks."""
    on_response: OnResponse | None = None
    """Told of each response once it is safe, as `keval run` does to judge it."""

    async def work_off(self, tasks: Iterable[Task]) -> None:
        """Do all tasks; returns when each has its event or `stop` was set and none is in flight."""
        execution = self.config.execution
        limiter = Limiter(execution.max_concurrent)
        retry = execution.retry

        async def work(task: Task) -> None:
            await self._do(task, retry, limiter)

        # Twice as many begun as run at once: a task that waits to be tried again holds up no other.
        await work_off(tasks, work, at_once=2 * execution.max_concurrent, stop=self.stop)

    async def _do(self, task: Task, retry: Retry, limiter: Limiter) -> None:
        reserved = self.ledger.reserve(task.condition.name)
        if reserved is None:
            self.stop.set()
            return
        work = _Work(task)

        def on_retry(error: ItemError) -> None:
            work.failed.append(_failed_attempt(error, work))

        async def answered() -> JsonObject:
            return await self._written(self._response(work, await self._attempt(work)))

        try:
            # The slot is held until the answer is safe: a crash never loses more answers than there are slots.
            written = await attempts(answered, retry, limiter, on_retry)
        except AgentError as error:
            written = await self._written(self._failure(work, error))
        self.ledger.settle(task.condition.name, reserved, total_usd(written["cost_usd"], work.failed))
        self.progress.finished(task.condition.name, failed=written["type"] == "failure", cost_usd=written["cost_usd"])
        if self.on_response is not None and written["type"] == "response":
            # As a resume will read it: a judgment's id is made from the text that the log has.
            await self.on_response(orjson.loads(encode(written)))

    async def _written(self, written: JsonObject) -> JsonObject:
        redacted: JsonObject = self.config.secrets.redact_value(written)
        await self.sink.append(redacted)
        return redacted

    async def _attempt(self, work: _Work) -> Answer:
        work.started, work.so_far = time.monotonic(), None
        self.progress.started(work.task.condition.name)
        try:
            answer = await self._within_time(work)
        finally:
            self.progress.ended(work.task.condition.name)
        _check_gates(work.task.condition, answer)
        return answer

    async def _within_time(self, work: _Work) -> Answer:
        execution = self.config.execution
        loop = asyncio.get_running_loop()
        with self._workspace() as folder:
            try:
                async with asyncio.timeout(execution.timeout_s), asyncio.timeout(execution.idle_timeout_s) as idle:

                    def so_far(partial: Answer) -> None:
                        work.so_far = partial
                        if execution.idle_timeout_s is not None and not idle.expired():
                            idle.reschedule(loop.time() + execution.idle_timeout_s)

                    return await self._ask(self._prompt(work.task, folder, so_far))
            except TimeoutError:
                limit = "with no sign of life" if idle.expired() else "in all"
                seconds = execution.idle_timeout_s if idle.expired() else execution.timeout_s
                raise AgentError("timeout", f"no answer: {seconds:g} s {limit}", partial=work.so_far) from None

    @contextmanager
    def _workspace(self) -> Iterator[Path]:
        if not self.config.agent.agent.uses_workspace:
            yield NO_WORKSPACE
            return
        with tempfile.TemporaryDirectory(prefix="task-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)

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
            turns=(question,),
            system_prompt=secrets.resolve(task.condition.system_prompt),
            mcp_servers=resolved_servers(self.config, task.condition.mcp_servers),
            expected_tools=expected_tools(task.condition.mcp_servers),
            repetition=task.repetition,
            workspace=folder,
            folder=self.config.path.parent,
            env=self.env,
            so_far=so_far,
        )

    def _response(self, work: _Work, answer: Answer) -> JsonObject:
        agent = self.config.agent
        return event(
            "response",
            work.task.response_id,
            self.run_id,
            sample=work.task.sample,
            sample_sha256=work.task.sample_sha256,
            **_coordinates(work.task),
            agent={"name": agent.name, "type": agent.type, "model": agent.model},
            agent_id=agent.agent_id,
            status=answer.status,
            text=answer.text,
            **_record(answer),
            sources=list(answer.sources),
            cost_usd=self._cost_usd(answer),
            duration_ms=milliseconds_since(work.started),
            num_turns=answer.num_turns,
            models=list(answer.models),
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            mock=self.mock,
        )

    def _failure(self, work: _Work, error: AgentError) -> JsonObject:
        partial = error.partial or work.so_far or Answer("empty", "")
        return event(
            "failure",
            failure_id(work.task.response_id, self.run_id),
            self.run_id,
            stage="generate",
            kind=error.kind,
            message=error.message,
            sample_id=work.task.sample["id"],
            sample_sha256=work.task.sample_sha256,
            **_coordinates(work.task),
            agent_id=self.config.agent.agent_id,
            response_id=work.task.response_id,
            attempts=len(work.failed) + 1,
            failed_attempts=work.failed,
            cost_usd=partial.cost_usd,
            duration_ms=milliseconds_since(work.started),
            **_record(partial),
            mock=self.mock,
        )

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
    leaked = {"leaked_processes": list(answer.leaked)} if answer.leaked else {}
    return {
        "turns": [turn_field(turn) for turn in answer.turns],
        "mcp": mcp_field(answer.mcp),
        "usage": usage_field(answer.usage),
        **leaked,
    }


def _failed_attempt(error: ItemError, work: _Work) -> JsonObject:
    partial = (error.partial if isinstance(error, AgentError) else None) or work.so_far
    usage, cost_usd = (None, None) if partial is None else (partial.usage, partial.cost_usd)
    return attempt_record(error, usage, cost_usd, work.started)


def _check_gates(condition: Condition, answer: Answer) -> None:
    """Raise AgentError when the answer does not meet the condition's gates; only MCP calls count."""
    called = sum(use.called for use in answer.mcp.values())
    failed = sum(use.failed for use in answer.mcp.values())
    if condition.gates.require_mcp_tool_use and not called:
        raise AgentError("mcp_unused", "the condition requires an MCP tool call and there was none", partial=answer)
    if condition.gates.require_mcp_tool_success and called and called == failed:
        raise AgentError("mcp_all_failed", f"all {called} MCP tool calls failed", partial=answer)
