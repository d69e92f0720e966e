"""Does the work in this process, and lets the models of judges and agent answer in batches, at half the price.

All items are begun at once; each waits for its own result. What a batch could not do is asked by itself, as another
attempt. A judge without a model works as always, no more at once than the config allows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from keval.agents import Answer
from keval.config.model import Condition, Config, JudgeConfig
from keval.counted import counted
from keval.errors import UsageError
from keval.events import EncodedEvent, failure_id
from keval.executors.answering import Answerer
from keval.executors.batch_events import Asker
from keval.executors.batching import AskerBatches
from keval.executors.judge_calls import JudgeCaller
from keval.executors.specs import AnswerSpec, JudgeSpec, Known, Outcome
from keval.ids import JsonObject, digest
from keval.judges import Judgment
from keval.models.batches import BatchService, batch_reply
from keval.models.messages_api import Asking, Model, ModelError, Reply
from keval.models.services import Service
from keval.retry import Failed
from keval.scheduling.limiter import Limiter

AT_ONCE = 10_000
"""Items that are in memory at once and wait for their batches."""

TICK_S = 0.25
"""How often it is looked whether all that is left is to wait."""


class Workers(NamedTuple):
    """Who makes judgments and answers."""

    judge_caller: JudgeCaller
    answerer: Answerer | None = None


class BatchExecutor:
    """Works in this process; the calls of each asker's models are collected and handed over in batches."""

    def __init__(
        self,
        workers: Workers,
        batches: Mapping[Asker, AskerBatches],
        limiter: Limiter,
        over: asyncio.Future[None],
        run_id: str,
    ) -> None:
        self._workers = workers
        self._batches = batches
        """Of those who ask a model."""
        self._limiter = limiter
        """Of what is done by itself: calls that no batch took, and judges that ask no model."""
        self._over = over
        self._active: set[str] = set()
        """The judgments and responses that are being made."""
        self._again: set[str] = set()
        """The ids that the failures would have of those that may be tried once more."""
        self._run_id = run_id

    def answer(self, spec: AnswerSpec) -> Awaitable[Outcome[Answer]]:
        """Ask the agent once."""
        answerer = self._workers.answerer
        if answerer is None:
            raise LookupError("this executor was made without an agent")
        agent = next(asker for asker in self._batches if asker.is_agent)
        return self._done(agent, spec.response_id, partial(answerer.answer, spec))

    def judge(self, spec: JudgeSpec) -> Awaitable[Outcome[Judgment]]:
        """Ask one judge once."""
        return self._done(Asker(spec.judge_id), spec.seed, partial(self._workers.judge_caller.judge, spec))

    async def _done(
        self, asker: Asker, target_id: str, do: Callable[[Asking | None], Awaitable[Outcome[Known]]]
    ) -> Outcome[Known]:
        """Do one item once; how much may be asked at once is not for the stage to learn from that."""
        batches, failure = self._batches.get(asker), failure_id(target_id, self._run_id)
        self._again.discard(failure)
        if batches is None:
            with await self._limiter.slot() as slot:
                outcome = await do(None)
                slot.ended(outcome.failed)
        else:
            self._active.add(target_id)
            try:
                outcome = await do(self._asking(target_id, batches))
            finally:
                self._active.discard(target_id)
        failed = outcome.failed
        if failed is None:
            return outcome
        if failed.retryable:
            self._again.add(failure)
        return outcome._replace(failed=replace(failed, overloaded=False))

    def release(self, workspace: Path) -> None:
        """Do nothing: what asks in batches works in no folder."""

    async def move(self, workspace: Path, place: Path) -> None:
        """Do nothing: what asks in batches works in no folder."""

    async def close(self) -> None:
        """Stop watching the batches, and end what the agent keeps from task to task."""
        for batches in self._batches.values():
            batches.close()
        if self._workers.answerer is not None:
            await self._workers.answerer.close()

    @property
    def remark(self) -> str:
        """What is waited for, in words; empty for nothing."""
        waited_for = [batch for batches in self._batches.values() for batch in batches.open if batch.waiting]
        requests = sum(len(batch.waiting) for batch in waited_for)
        if not requests:
            return ""
        since = min((batch.since for batch in waited_for if batch.since), default="")[11:16]
        batches = "a batch" if len(waited_for) == 1 else f"{len(waited_for)} batches"
        return f"{counted(requests, 'request')} in {batches}{f' since {since} (UTC)' if since else ''}"

    @property
    def held_back(self) -> str:
        """What holds back the calls that no batch took, in words; empty for nothing."""
        return self._limiter.remark

    def recorded(self, encoded: EncodedEvent) -> Awaitable[None] | None:
        """Take note that a judgment, a response or a failure is in the log."""
        event_id, asker = str(encoded.event["id"]), Asker.of(encoded.event)
        self._again.discard(event_id)
        return self._batches[asker].recorded(event_id) if asker in self._batches else None

    async def work_off(self, work: Coroutine[Any, Any, None], may_leave: Callable[[], bool]) -> str:
        """Do the work to its end and return nothing, or what is left at the service for a later command.

        It is left there when `may_leave` says so and nothing but batches is waited for. Raises EnvironmentLacksError
        for a batch that the service does not make or does not know.
        """
        working = asyncio.ensure_future(work)
        watching = asyncio.ensure_future(self._watch(may_leave))
        try:
            await asyncio.wait({working, watching, self._over}, return_when=asyncio.FIRST_COMPLETED)
            if self._over.done():
                self._over.result()
            if working.done():
                working.result()
                return ""
            watching.result()
        finally:
            await self.close()
            for task in (watching, working):
                if not task.done():
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
        return self.remark

    async def _watch(self, may_leave: Callable[[], bool]) -> None:
        """Return when all that is left is to wait for batches, twice in a row, and that may be left."""
        idle = 0
        while idle < 2:  # noqa: PLR2004 - once more: who has just got a place is not active yet
            await asyncio.sleep(TICK_S)
            idle = idle + 1 if may_leave() and self._is_idle() else 0

    def _is_idle(self) -> bool:
        if self._again or self._limiter.running or any(batches.is_busy for batches in self._batches.values()):
            return False
        waiting = {target_id for batches in self._batches.values() for target_id in batches.waiting}
        return bool(waiting) and self._active <= waiting

    def _asking(self, target_id: str, batches: AskerBatches) -> Asking:
        """Return what asks models for one item; the same call for the same item has the same id in any run."""
        asked: Counter[str] = Counter()

        async def ask(
            model: Model,
            env: Mapping[str, str],
            /,
            *,
            system: str,
            messages: Sequence[Mapping[str, Any]],
            schema: Mapping[str, Any] | None = None,
        ) -> Reply:
            params = model.batch_params(system=system, messages=messages, schema=schema)
            custom_id = _custom_id(target_id, params, asked)
            result = await batches.result(custom_id, params, target_id)
            if result is not None:
                return batch_reply(result)
            with await self._limiter.slot() as slot:
                try:
                    reply = await model.ask(env, system=system, messages=messages, schema=schema)
                except ModelError as error:
                    slot.ended(
                        Failed(
                            "judge_error", error.message, retry_after_s=error.retry_after_s, overloaded=error.overloaded
                        )
                    )
                    raise
                slot.ended(None)
                return reply

        return ask


def _custom_id(target_id: str, params: JsonObject, asked: Counter[str]) -> str:
    """Return the id of a call in its batch; a call that is made twice for one item has two."""
    content = digest("batch request", target_id, params)
    asked[content] += 1
    return content if asked[content] == 1 else digest("batch request", content, asked[content])


class Caller(NamedTuple):
    """Somebody whose calls go into batches, and where these are made."""

    asker: Asker
    name: str
    """What messages call it."""
    service: BatchService


def judge_callers(judges: Sequence[JudgeConfig], env: Mapping[str, str]) -> list[Caller]:
    """Return the judges that ask models. Raises UsageError for a model that no batch can ask."""
    return [
        Caller(Asker(each.judge_id), f"judge {each.name}", batch_service(f"judge {each.name!r}", service, env))
        for each in judges
        if (service := each.judge.service) is not None and each.judge.uses_models
    ]


def agent_caller(config: Config, conditions: Sequence[Condition], env: Mapping[str, str]) -> Caller:
    """Return the agent as one who asks a model under conditions. Raises UsageError for what no batch can ask."""
    agent = config.agent
    service = agent.agent.batch_service
    if service is None:
        raise UsageError(f"--batch is for the agent `messages` without tools; this one is of type {agent.type!r}")
    with_tools = [condition.name for condition in conditions if condition.mcp_servers]
    if with_tools:
        raise UsageError(
            f"--batch is for conditions without MCP servers, and these have some: {', '.join(with_tools)}; a batch "
            "calls no tools, --condition names conditions that can be asked in batches"
        )
    return Caller(Asker(agent.agent_id, is_agent=True), f"agent {agent.name}", batch_service("the agent", service, env))


def batch_service(who: str, service: Service, env: Mapping[str, str]) -> BatchService:
    """Return where batches of somebody's calls are made. Raises UsageError for a service that makes none."""
    provider = service.reached_by(env).provider
    if provider != "anthropic":
        raise UsageError(f"{who}: --batch speaks Message Batches, which provider {provider} does not have")
    return BatchService(service, env)
