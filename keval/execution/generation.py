"""The `generate` stage: each task ends in one event, a `response`, or a `failure` that names its kind."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from keval.agents import Answer, McpUse, Turn
from keval.config.model import Condition, Config
from keval.datasets import timeout_s
from keval.events import can_hold, envelope, event, failure_id
from keval.execution.recording import attempts_field, orphans_field, usage_field
from keval.execution.stage import WORKSPACE, Stage
from keval.executors.specs import AnswerSpec, Outcome
from keval.executors.workspaces import Kept
from keval.failure_kinds import AgentFailureKind
from keval.ids import JsonObject
from keval.preparation.tasks import Task, turns
from keval.retry import Failed


@dataclass(frozen=True, kw_only=True)
class Generation(Stage[Task, Answer]):
    """One run of the `generate` stage."""

    config: Config
    kept: Kept = field(default_factory=Kept)
    """Which of the agent's folders stay."""
    broken: ClassVar[str] = "agent_error"

    def row(self, item: Task) -> str:
        """Return the task's condition."""
        return item.condition.name

    def account(self, item: Task) -> str:
        """Return the id of the task's condition, or of its response if that is paid for already."""
        return item.response_id if item.response_id in self.ledger.free else item.condition_id

    def perform(self, item: Task) -> Awaitable[Outcome[Answer]]:
        """Let the agent be asked once. Should that fail, another attempt is one like all others."""
        self.ledger.free.discard(item.response_id)
        return self.executor.answer(_answer_spec(item))

    def examined(self, item: Task, outcome: Outcome[Answer]) -> Outcome[Answer]:
        """Return an answer with its cost, and as a failure if it does not meet the condition's gates."""
        if outcome.failed is not None:
            is_free = outcome.known.cost_usd is None and self.config.agent.agent.is_free
            return outcome._replace(known=replace(outcome.known, cost_usd=0.0)) if is_free else outcome
        answer, cost_usd = outcome.known, self._cost_usd(outcome.known)
        failed = _gate_failure(item.condition, answer)
        if failed is None and cost_usd == answer.cost_usd:
            return outcome
        return outcome._replace(known=replace(answer, cost_usd=cost_usd), failed=failed)

    def event(self, item: Task, outcomes: list[Outcome[Answer]]) -> JsonObject:
        """Return the response to a task, or its failure."""
        failed = outcomes[-1].failed
        return self._response(item, outcomes) if failed is None else self._failure(item, outcomes, failed)

    def reduced(self, known: Answer, *, cost: bool, usage: bool) -> Answer:
        """Return an answer of which nothing is known but its cost and usage, where these are to stay."""
        return Answer("empty", "", cost_usd=known.cost_usd if cost else None, usage=known.usage if usage else None)

    def place(self, item: Task, outcome: Outcome[Answer]) -> Path | None:
        """Return where the folder of a task is to be moved, None if it is to be removed."""
        return self.kept.place(item.response_id, failed=outcome.failed is not None)

    def _kept_field(self, task: Task, outcome: Outcome[Answer]) -> JsonObject:
        """Return what an event says of the task's folder: where it is, if it is kept for good."""
        if outcome.workspace is None:
            return {}
        place = self.kept.recorded(task.response_id, failed=outcome.failed is not None)
        return {} if place is None else {WORKSPACE: str(place)}

    def _response(self, task: Task, outcomes: list[Outcome[Answer]]) -> JsonObject:
        agent, answer = self.config.agent, outcomes[-1].known
        return {
            **envelope("response", task.response_id, self.recorder.run_id),
            "sample": task.sample,
            "sample_sha256": task.sample_sha256,
            "question_id": task.question_id,
            **_coordinates(task),
            "agent": {"name": agent.name, "type": agent.type, "model": agent.model},
            "agent_id": agent.agent_id,
            "status": answer.status,
            "text": answer.text,
            **_record(answer),
            "sources": list(answer.sources),
            "cost_usd": answer.cost_usd,
            "duration_ms": outcomes[-1].duration_ms,
            "num_turns": answer.num_turns,
            "models": list(answer.models),
            **self._kept_field(task, outcomes[-1]),
            **attempts_field(outcomes),
            "mock": self.recorder.mock,
        }

    def _failure(self, task: Task, outcomes: list[Outcome[Answer]], failed: Failed) -> JsonObject:
        answer = outcomes[-1].known
        return event(
            "failure",
            failure_id(task.response_id, self.recorder.run_id),
            self.recorder.run_id,
            stage="generate",
            kind=failed.kind,
            message=failed.message,
            response_id=task.response_id,
            sample=task.sample,
            sample_id=task.sample["id"],
            sample_sha256=task.sample_sha256,
            question_id=task.question_id,
            **_coordinates(task),
            agent_id=self.config.agent.agent_id,
            **attempts_field(outcomes),
            cost_usd=answer.cost_usd,
            duration_ms=outcomes[-1].duration_ms,
            **_record(answer),
            **self._kept_field(task, outcomes[-1]),
            mock=self.recorder.mock,
        )

    def _cost_usd(self, answer: Answer) -> float | None:
        """Return what the agent says that it cost, else its tokens at the price that the config gives its model.

        What several models used together has no one price, and what a failure used may not all be told.
        """
        if answer.cost_usd is not None or answer.usage is None or len(answer.models) > 1:
            return answer.cost_usd
        prices = self.config.prices
        own = [model for model in (*answer.models, self.config.agent.model) if prices.is_own(model)]
        cost_usd = prices.cost_usd(own[0], answer.usage) if own else None
        return None if cost_usd is None or answer.price_share is None else cost_usd * answer.price_share


def _answer_spec(task: Task) -> AnswerSpec:
    """Return what the agent is to be asked for a task: nothing of the golden answer, no name of the condition."""
    condition = task.condition
    return AnswerSpec(
        turns=turns(task.sample),
        system_prompt=condition.system_prompt,
        mcp_servers=dict(condition.mcp_servers),
        repetition=task.repetition,
        response_id=task.response_id,
        timeout_s=timeout_s(task.sample),
    )


def _gate_failure(condition: Condition, answer: Answer) -> Failed | None:
    """Return the failure of an answer that does not meet the condition's gates; only MCP calls count."""
    gates = condition.gates
    if not (gates.require_mcp_tool_use or gates.require_mcp_tool_success):
        return None
    called = sum(use.called for use in answer.mcp.values())
    failed = sum(use.failed for use in answer.mcp.values())
    kind: AgentFailureKind
    if gates.require_mcp_tool_use and not called:
        kind, told = "mcp_unused", "the condition requires an MCP tool call and there was none"
    elif gates.require_mcp_tool_success and called and called == failed:
        kind, told = "mcp_all_failed", f"all {called} MCP tool calls failed"
    else:
        return None
    return Failed(kind, told, retryable=gates.retry_gates)


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


def _coordinates(task: Task) -> JsonObject:
    return {"condition": task.condition.name, "condition_id": task.condition_id, "repetition": task.repetition}


def _record(answer: Answer) -> JsonObject:
    return {
        "turns": [turn_field(turn) for turn in answer.turns],
        "mcp": mcp_field(answer.mcp),
        "usage": usage_field(answer.usage),
        **orphans_field(answer.orphaned_processes),
    }
