"""Does the judges' work in this process, and lets their models answer in batches, at half the price.

All judgments are begun at once; each waits for its own result. What a batch could not do is asked by itself, as another
attempt. A judge without a model works as always, no more at once than the config allows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from keval.agents import Answer
from keval.config.model import JudgeConfig
from keval.counted import counted
from keval.errors import UsageError
from keval.events import failure_id
from keval.execution.batch_events import KnownBatches
from keval.execution.batching import JudgeBatches, Pace
from keval.execution.limiter import Limiter
from keval.execution.recording import EncodedEvent
from keval.execution.scoring import Scorer
from keval.execution.specs import AnswerSpec, Failed, JudgeSpec, Outcome
from keval.ids import JsonObject, digest
from keval.judges import Asking, Judgment
from keval.logs.stream import Sink
from keval.models.batches import BatchService, batch_reply
from keval.models.messages_api import Model, ModelError, Reply
from keval.models.prices import Prices
from keval.retry import Retry

AT_ONCE = 10_000
"""Judgments that are in memory at once and wait for their batches."""

TICK_S = 0.25
"""How often it is looked whether all that is left is to wait."""


class BatchExecutor:
    """Judges in this process; the calls of each judge's model are collected and handed over in batches."""

    def __init__(
        self,
        scorer: Scorer,
        batches: Mapping[str, JudgeBatches],
        limiter: Limiter,
        over: asyncio.Future[None],
        run_id: str,
    ) -> None:
        self._scorer = scorer
        self._batches = batches
        """By judge_id: of the judges that ask a model."""
        self._limiter = limiter
        """Of what is done by itself: calls that no batch took, and judges that ask no model."""
        self._over = over
        self._active: set[str] = set()
        """The judgments that are being made."""
        self._again: set[str] = set()
        """The ids that the failures would have of judgments that may be tried once more."""
        self._run_id = run_id

    def answer(self, spec: AnswerSpec) -> Awaitable[Outcome[Answer]]:  # noqa: ARG002 - it only judges
        """Raise LookupError: agents are not asked in batches."""
        raise LookupError("this executor was made without an agent")

    async def judge(self, spec: JudgeSpec) -> Outcome[Judgment]:
        """Ask one judge once; how much may be asked at once is not for the stage to learn from that."""
        batches, failure = self._batches.get(spec.judge_id), failure_id(spec.seed, self._run_id)
        self._again.discard(failure)
        if batches is None:
            with await self._limiter.slot() as slot:
                outcome = await self._scorer.judge(spec)
                slot.ended(outcome.failed)
        else:
            self._active.add(spec.seed)
            try:
                outcome = await self._scorer.judge(spec, self._asking(spec, batches))
            finally:
                self._active.discard(spec.seed)
        failed = outcome.failed
        if failed is None:
            return outcome
        if failed.retryable:
            self._again.add(failure)
        return outcome._replace(failed=replace(failed, overloaded=False))

    def release(self, workspace: Path) -> None:
        """Do nothing: no judgment has a folder of its own."""

    async def move(self, workspace: Path, place: Path) -> None:
        """Do nothing: no judgment has a folder of its own."""

    async def close(self) -> None:
        """Stop watching the batches."""
        for batches in self._batches.values():
            batches.close()

    @property
    def remark(self) -> str:
        """What is waited for, in words; empty for nothing."""
        waited_for = [batch for batches in self._batches.values() for batch in batches.open if batch.waiting]
        requests = sum(len(batch.waiting) for batch in waited_for)
        if not requests:
            return ""
        since = min((batch.since for batch in waited_for if batch.since), default="")[11:16]
        batches = "a batch" if len(waited_for) == 1 else f"{len(waited_for)} batches"
        return f"{counted(requests, 'request')} in {batches} since {since} (UTC)"

    def recorded(self, encoded: EncodedEvent) -> Awaitable[None] | None:
        """Take note that a judgment, or its failure, is in the log."""
        event_id, judge_id = str(encoded.event["id"]), str(encoded.event["judge_id"])
        self._again.discard(event_id)
        return self._batches[judge_id].recorded(event_id) if judge_id in self._batches else None

    async def work_off(self, work: Coroutine[Any, Any, None], may_leave: Callable[[], bool]) -> bool:
        """Do the work to its end and return True, or False when it was left to a later command.

        It is left when `may_leave` says so and nothing but batches is waited for. Raises EnvironmentLacksError for a
        batch that the service does not make or does not know.
        """
        working = asyncio.ensure_future(work)
        watching = asyncio.ensure_future(self._watch(may_leave))
        try:
            await asyncio.wait({working, watching, self._over}, return_when=asyncio.FIRST_COMPLETED)
            if self._over.done():
                self._over.result()
            if working.done():
                working.result()
                return True
            watching.result()
            return False
        finally:
            await self.close()
            for task in (watching, working):
                if not task.done():
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task

    async def _watch(self, may_leave: Callable[[], bool]) -> None:
        """Return when all that is left is to wait for batches, twice in a row, and that may be left."""
        idle = 0
        while idle < 2:  # noqa: PLR2004 - once more: who has just got a place is not active yet
            await asyncio.sleep(TICK_S)
            idle = idle + 1 if may_leave() and self._is_idle() else 0

    def _is_idle(self) -> bool:
        if self._again or self._limiter.running or any(batches.is_busy for batches in self._batches.values()):
            return False
        waiting = {judgment_id for batches in self._batches.values() for judgment_id in batches.waiting}
        return bool(waiting) and self._active <= waiting

    def _asking(self, spec: JudgeSpec, batches: JudgeBatches) -> Asking:
        """Return what asks models for one judgment; the same call of the same judgment has the same id in any run."""
        asked: Counter[str] = Counter()

        async def ask(
            model: Model,
            env: Mapping[str, str],
            /,
            *,
            system: str,
            messages: Sequence[Mapping[str, Any]],
            schema: Mapping[str, Any],
        ) -> Reply:
            params = model.batch_params(system=system, messages=messages, schema=schema)
            custom_id = _custom_id(spec.seed, params, asked)
            result = await batches.result(custom_id, params, spec.seed)
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


def _custom_id(judgment_id: str, params: JsonObject, asked: Counter[str]) -> str:
    """Return the id of a call in its batch; a call that a judge makes twice has two."""
    content = digest("batch request", judgment_id, params)
    asked[content] += 1
    return content if asked[content] == 1 else digest("batch request", content, asked[content])


@dataclass(frozen=True, kw_only=True)
class BatchWork:
    """What a batch executor is made of."""

    judges: Sequence[JudgeConfig]
    judge_env: Mapping[str, str]
    program_env: Mapping[str, str]
    prices: Prices
    known: KnownBatches
    run_id: str
    sink: Sink
    max_concurrent: int
    retry: Retry
    tell: Callable[[str], None]
    pace: Pace = field(default_factory=Pace)

    def executor(self) -> BatchExecutor:
        """Return the executor, in a running event loop. Raises UsageError for a model that no batch can ask."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        by_id = {judge.judge_id: judge.judge for judge in self.judges}
        scorer = Scorer(judges=by_id, env=self.judge_env, program_env=self.program_env, prices=self.prices)
        batch_ids = set(self.known.batch_ids)
        batches = {
            judge.judge_id: JudgeBatches(
                judge_id=judge.judge_id,
                name=judge.name,
                service=service,
                run_id=self.run_id,
                append=self.sink.append,
                known=self.known.open,
                batch_ids=batch_ids,
                tell=self.tell,
                over=over,
                pace=self.pace,
            )
            for judge in self.judges
            if (service := self._service(judge)) is not None
        }
        return BatchExecutor(scorer, batches, Limiter(self.max_concurrent, self.retry), over, self.run_id)

    def _service(self, judge: JudgeConfig) -> BatchService | None:
        """Return where a judge's batches are made; None for one that asks no model."""
        service = judge.judge.service
        if service is None or not judge.judge.uses_models:
            return None
        if service.reached_by(self.judge_env).provider != "anthropic":
            raise UsageError(
                f"judge {judge.name!r}: --batch speaks Message Batches, which provider {service.provider} has not"
            )
        return BatchService(service, self.judge_env)
