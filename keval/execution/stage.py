"""What `generate` and `judge` have in common: each item ends in one event, whatever becomes of it.

An item is tried until it is done, its error is final, or its attempts or the money are used up.
Every attempt and what it cost stays in the item's event. One item's failure never touches another.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from keval.events import EncodedEvent, InvalidEventError
from keval.execution.budget import Ledger
from keval.execution.progress import Progress
from keval.execution.recording import Recorder
from keval.executors.executor import Executor
from keval.executors.specs import Known, Outcome
from keval.ids import JsonObject
from keval.logs.sinks import UntilSafe
from keval.processes import tree
from keval.retry import Failed, Retry
from keval.scheduling.backoff import pause
from keval.scheduling.limiter import Limiter
from keval.scheduling.settling import Settling
from keval.scheduling.worker_pool import Take, WorkerPool

Item = TypeVar("Item")

ROOM = 64
"""So many events may be written and not safe yet, even where fewer items than that are done at once."""

WORKSPACE = "workspace"
"""The field of an event that says where its folder was kept."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tries(Generic[Item, Known]):
    """The attempts at one item."""

    item: Item
    outcomes: list[Outcome[Known]]
    encoded: EncodedEvent | None = None
    """The event that the item would end in now."""
    handed_over: bool = False
    """Whether the recorder was given that event."""
    until_safe: UntilSafe = None
    """What is to be waited for, once the event is written, until it is safe."""

    @property
    def last(self) -> Outcome[Known]:
        """What came of the last attempt; there has to be one."""
        return self.outcomes[-1]


@dataclass(frozen=True, kw_only=True)
class Stage(ABC, Generic[Item, Known]):
    """One run of a stage: who does its work, where that is recorded, and what it counts in and spends from."""

    executor: Executor
    recorder: Recorder
    progress: Progress
    ledger: Ledger
    stop: asyncio.Event
    """Set by the user or by a budget that is reached: no new items."""
    retry: Retry
    max_concurrent: int
    again_costs: float = 1
    """How many times the price of a first attempt another one may cost, as what a batch could not do."""
    on_written: Callable[[EncodedEvent], Awaitable[None] | None] | None = None
    """Told of each event once it is safe, as `keval run` does to judge responses as they come; what it returns, if
    anything, is waited for."""

    @abstractmethod
    def row(self, item: Item) -> str:
        """Return where an item is counted in the progress: its condition, or its judge."""

    @abstractmethod
    def account(self, item: Item) -> str:
        """Return what an item's costs are compared with in the ledger: the id of its condition, or of its judge."""

    @abstractmethod
    def perform(self, item: Item) -> Awaitable[Outcome[Known]]:
        """Let the executor do an item once."""

    def examined(self, item: Item, outcome: Outcome[Known]) -> Outcome[Known]:  # noqa: ARG002 - for subclasses
        """Return an outcome with its cost, and as a failure if what was made is not what was asked for."""
        return outcome

    @abstractmethod
    def event(self, item: Item, outcomes: list[Outcome[Known]]) -> JsonObject:
        """Return an item's event: what the last outcome made, or its failure."""

    @abstractmethod
    def reduced(self, known: Known, *, cost: bool, usage: bool) -> Known:
        """Return of what is known of an attempt its cost and usage only, where these are to stay."""

    def place(self, item: Item, outcome: Outcome[Known]) -> Path | None:  # noqa: ARG002 - for subclasses
        """Return where the folder of an item's last attempt is to be moved, None if it is to be removed."""
        return None

    def leave(self, item: Item) -> None:
        """Take note that an item is done with, whatever became of it."""

    broken: ClassVar[str]
    """The kind of failure of an item from which something came back that no log can hold."""

    async def work_off(self, items: Iterable[Item] | Take[Item]) -> None:
        """Do all items; returns when each has its event or `stop` was set and none is in flight."""
        pool, limiter = WorkerPool(self.max_concurrent, self.stop), Limiter(self.max_concurrent, self.retry)
        self.progress.remarks.append(lambda: limiter.remark)
        settling = Settling(max(self.max_concurrent, ROOM), self._settle, self._tell, self._leave)
        work = partial(self._work, pool=pool, limiter=limiter, settling=settling)
        with limiter.open_after(self.stop):
            async with asyncio.TaskGroup() as group:
                group.create_task(settling.work_off())
                await pool.work_off(items, work)
                settling.end()

    async def _work(
        self, item: Item, pool: WorkerPool, limiter: Limiter, settling: Settling[Tries[Item, Known]]
    ) -> None:
        """Do one item to its end, and write down what came of it; the rest follows once that is safe."""
        tries: Tries[Item, Known] = Tries(item, [])
        try:
            await self._try(tries, limiter)
            while self._goes_on(tries):
                with pool.aside(), self.progress.waiting():
                    await pause(self.retry, len(tries.outcomes), tries.last.failed, *self._ends_of(item))
                await self._try(tries, limiter)
            if tries.encoded is None:
                self._leave(tries)
            else:
                await self._record(tries, tries.encoded)
                if tries.last.workspace is not None and tries.until_safe is not None:
                    # A folder is an open file, of which there may not be many: it does not wait behind others.
                    await tries.until_safe
                    tries.until_safe = None
                    self._release(tries)
                await settling.bring(tries, tries.until_safe)
        except BaseException:
            # Also when this is cancelled: what failed attempts have cost is in no other place.
            try:
                if tries.encoded is not None:
                    await self._record(tries, tries.encoded)
            finally:
                self._leave(tries)
            raise

    def _settle(self, tries: Tries[Item, Known]) -> None:
        """Be done with an item whose event is safe."""
        self._leave(tries)
        self._count(tries)

    def _tell(self, tries: Tries[Item, Known]) -> Awaitable[None] | None:
        """Tell of an event that is safe; what is returned, if anything, has to be waited for."""
        return None if self.on_written is None or tries.encoded is None else self.on_written(tries.encoded)

    def _leave(self, tries: Tries[Item, Known]) -> None:
        """Be done with an item, whatever became of it."""
        self._release(tries)
        self.leave(tries.item)

    def _count(self, tries: Tries[Item, Known]) -> None:
        """Tell the progress of an item that has its event."""
        row, failed = self.row(tries.item), tries.last.failed
        costs_usd = [outcome.known.cost_usd for outcome in tries.outcomes]
        if failed is None:
            self.progress.finished(row, costs_usd=costs_usd)
        else:
            self.progress.failed_as(row, failed.kind, failed.message, costs_usd=costs_usd)

    def _goes_on(self, tries: Tries[Item, Known]) -> bool:
        failed = tries.outcomes[-1].failed if tries.outcomes else None
        may = failed is not None and failed.retryable and len(tries.outcomes) < self.retry.max_attempts
        return may and not self.stop.is_set()

    def _ends_of(self, item: Item) -> list[asyncio.Event]:
        """Return what ends the wait for another attempt at an item: also that a budget is reached, if it costs."""
        reached: asyncio.Event | None = self.ledger.enough
        return [self.stop, reached] if reached and self.ledger.holds(self.account(item)) else [self.stop]

    async def _try(self, tries: Tries[Item, Known], limiter: Limiter) -> None:
        """Try an item once, if money and time allow it; an answer is written then, a failure is not yet."""
        times = self.again_costs if tries.outcomes else 1
        reservation = await self.ledger.reserve(self.account(tries.item), self.stop, times)
        if reservation is None:
            if tries.outcomes and self.ledger.refused and self.ledger.holds(self.account(tries.item)):
                self._fail_for_budget(tries)
            return
        with reservation:
            # The slot is held until the event is written: a `kill -9` never loses more of them than there are slots.
            with await limiter.slot(len(tries.outcomes)) as slot:
                if self.stop.is_set():
                    return
                self._release(tries)
                tries.encoded = await self._attempt(tries)
                outcome = tries.outcomes[-1]
                slot.ended(outcome.failed)
                if outcome.failed is None:
                    await self._record(tries, tries.encoded)
            reservation.settle(outcome.known.cost_usd)

    async def _record(self, tries: Tries[Item, Known], encoded: EncodedEvent) -> None:
        """Write the event that an item ends in, unless it is written."""
        if tries.handed_over:
            return
        workspace = tries.last.workspace
        if workspace is None or not await self._keep(tries, workspace):
            tries.encoded = encoded = self._without_folder(encoded)
        # Set before the wait: the line of a write that is cancelled is on its way, and must not be written twice.
        tries.handed_over = True
        tries.until_safe = await self.recorder.write(encoded)

    async def _keep(self, tries: Tries[Item, Known], workspace: Path) -> bool:
        """Move the folder of the last attempt to where it stays, if it is to stay; return whether it is there."""
        if (place := self.place(tries.item, tries.last)) is None:
            return False
        try:
            await tree.to_the_end(self.executor.move(workspace, place))
        except OSError as error:
            _log.warning("keval: %s: the workspace could not be kept there: %s", place, error)
            return False
        return True

    def _without_folder(self, encoded: EncodedEvent) -> EncodedEvent:
        """Return an event that names no folder: it was not moved, or removed before an attempt that never ended."""
        if WORKSPACE not in encoded.unredacted:
            return encoded
        return self.recorder.encoded({name: value for name, value in encoded.unredacted.items() if name != WORKSPACE})

    async def _attempt(self, tries: Tries[Item, Known]) -> EncodedEvent:
        """Let an item be done once, and return the event that it would end in now."""
        row = self.row(tries.item)
        self.progress.started(row)
        try:
            tries.outcomes.append(self.examined(tries.item, await self.perform(tries.item)))
        finally:
            self.progress.ended(row)
        return self._loggable(tries)

    def _fail_for_budget(self, tries: Tries[Item, Known]) -> None:
        """Let an item fail because the budget does not allow another attempt."""
        last, failed = tries.last, tries.last.failed
        if failed is not None:
            told = f"the budget does not allow another attempt after {failed.kind}: {failed.message}"
            tries.outcomes[-1] = last._replace(failed=Failed("budget", told))
            tries.encoded = self._loggable(tries)

    def _loggable(self, tries: Tries[Item, Known]) -> EncodedEvent:
        """Return an item's event with as much of the last outcome as the log can hold: its cost before all."""
        item, last = tries.item, tries.last
        try:
            return self.recorder.encoded(self.event(item, tries.outcomes))
        except InvalidEventError as problem:
            failed = _unloggable(last.failed, self.broken, problem)
        for usage in (True, False):
            tries.outcomes[-1] = last._replace(failed=failed, known=self.reduced(last.known, cost=True, usage=usage))
            with suppress(InvalidEventError):
                return self.recorder.encoded(self.event(item, tries.outcomes))
        tries.outcomes[-1] = last._replace(failed=failed, known=self.reduced(last.known, cost=False, usage=False))
        return self.recorder.encoded(self.event(item, tries.outcomes))

    def _release(self, tries: Tries[Item, Known]) -> None:
        """Give up the folder of the last attempt: its event is safe, or another attempt begins."""
        if tries.outcomes and (workspace := tries.outcomes[-1].workspace) is not None:
            self.executor.release(workspace)
            tries.outcomes[-1] = tries.last._replace(workspace=None)


def _unloggable(failed: Failed | None, broken: str, problem: InvalidEventError) -> Failed:
    """Return the failure of an attempt whose outcome no log can hold."""
    if failed is None:
        return Failed(broken, f"what came back cannot be logged: {problem}")
    return replace(failed, message=f"{failed.message} (what was known of it cannot be logged: {problem})")
