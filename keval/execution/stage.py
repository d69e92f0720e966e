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

from keval.events import InvalidEventError
from keval.execution.budget import Ledger
from keval.execution.executors import Executor
from keval.execution.limiter import Limiter
from keval.execution.progress import Progress
from keval.execution.recording import EncodedEvent, Recorder, total_usd
from keval.execution.scheduler import Crew, Take, pause
from keval.execution.specs import Failed, Known, Outcome
from keval.ids import JsonObject
from keval.processes import tree
from keval.retry import Retry

Item = TypeVar("Item")

KEPT = "workspace"
"""The field of an event that says where its folder was kept."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tries(Generic[Known]):
    """The attempts at one item."""

    outcomes: list[Outcome[Known]]
    encoded: EncodedEvent | None = None
    """The event that the item would end in now."""
    handed_over: bool = False
    """Whether the recorder was given that event."""

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
        crew, limiter = Crew(self.max_concurrent, self.stop), Limiter(self.max_concurrent, self.retry)
        work = partial(self._work, crew=crew, limiter=limiter)
        with limiter.open_after(self.stop):
            await crew.work_off(items, work)

    async def _work(self, item: Item, crew: Crew, limiter: Limiter) -> None:
        """Do one item to its end, and record what came of it."""
        tries: Tries[Known] = Tries([])
        try:
            await self._try(item, tries, limiter)
            while self._goes_on(tries):
                with crew.aside():
                    await pause(self.retry, len(tries.outcomes), tries.last.failed, self.stop)
                await self._try(item, tries, limiter)
        finally:
            # Also when this is cancelled: what failed attempts have cost is in no other place.
            try:
                if tries.encoded is not None and not tries.handed_over:
                    await self._record(item, tries.encoded, tries)
            finally:
                self._release(tries)
                self.leave(item)
        if tries.encoded is None:
            return
        self._count(item, tries)
        if self.on_written is not None and (told := self.on_written(tries.encoded)) is not None:
            with crew.aside():
                await told

    def _count(self, item: Item, tries: Tries[Known]) -> None:
        """Tell the progress of an item that has its event."""
        row, failed, cost_usd = self.row(item), tries.last.failed, total_usd(tries.outcomes)
        if failed is None:
            self.progress.finished(row, cost_usd=cost_usd)
        else:
            self.progress.failed_as(row, failed.kind, failed.message, cost_usd=cost_usd)

    def _goes_on(self, tries: Tries[Known]) -> bool:
        failed = tries.outcomes[-1].failed if tries.outcomes else None
        may = failed is not None and failed.retryable and len(tries.outcomes) < self.retry.max_attempts
        return may and not self.stop.is_set()

    async def _try(self, item: Item, tries: Tries[Known], limiter: Limiter) -> None:
        """Try an item once, if money and time allow it; an answer is safe then, a failure is not written yet."""
        reservation = await self.ledger.reserve(self.account(item), self.stop)
        if reservation is None:
            if tries.outcomes and self.ledger.refused:
                self._fail_for_budget(item, tries)
            return
        with reservation:
            # The slot is held until the event is safe: a crash never loses more of them than there are slots.
            with await limiter.slot(len(tries.outcomes)) as slot:
                if self.stop.is_set():
                    return
                self._release(tries)
                tries.encoded = await self._attempt(item, tries)
                outcome = tries.outcomes[-1]
                slot.ended(outcome.failed)
                if outcome.failed is None:
                    await self._record(item, tries.encoded, tries)
            reservation.settle(outcome.known.cost_usd)

    def _record(self, item: Item, encoded: EncodedEvent, tries: Tries[Known]) -> Awaitable[None]:
        """Write the event that an item ends in."""
        workspace = tries.last.workspace
        place = None if workspace is None else self.place(item, tries.last)
        if workspace is not None and place is not None:
            return self._record_moved(encoded, tries, workspace, place)
        # Set before the wait: the line of a write that is cancelled is on its way, and must not be written twice.
        tries.handed_over = True
        return self.recorder.write(encoded)

    async def _record_moved(self, encoded: EncodedEvent, tries: Tries[Known], workspace: Path, place: Path) -> None:
        """Move an attempt's folder to where it stays, and then write the event, which says so."""
        tries.encoded = await self._moved(encoded, workspace, place)
        tries.handed_over = True
        await self.recorder.write(tries.encoded)

    async def _moved(self, encoded: EncodedEvent, workspace: Path, place: Path) -> EncodedEvent:
        """Move an attempt's folder to where it stays; return the event, which says so only if that was possible."""
        try:
            await tree.to_the_end(self.executor.move(workspace, place))
        except OSError as error:
            _log.warning("keval: %s: the workspace could not be kept there: %s", place, error)
            known = {name: value for name, value in encoded.unredacted.items() if name != KEPT}
            return self.recorder.encoded(known)
        return encoded

    async def _attempt(self, item: Item, tries: Tries[Known]) -> EncodedEvent:
        """Let an item be done once, and return the event that it would end in now."""
        row = self.row(item)
        self.progress.started(row)
        try:
            tries.outcomes.append(self.examined(item, await self.perform(item)))
        finally:
            self.progress.ended(row)
        return self._loggable(item, tries)

    def _fail_for_budget(self, item: Item, tries: Tries[Known]) -> None:
        """Let an item fail because the budget does not allow another attempt."""
        last, failed = tries.last, tries.last.failed
        if failed is not None:
            told = f"the budget does not allow another attempt after {failed.kind}: {failed.message}"
            tries.outcomes[-1] = last._replace(failed=Failed("budget", told))
            tries.encoded = self._loggable(item, tries)

    def _loggable(self, item: Item, tries: Tries[Known]) -> EncodedEvent:
        """Return an item's event with as much of the last outcome as the log can hold: its cost before all."""
        try:
            return self.recorder.encoded(self.event(item, tries.outcomes))
        except InvalidEventError as problem:
            last = tries.last
            failed = _unloggable(last.failed, self.broken, problem)
        for usage in (True, False):
            tries.outcomes[-1] = last._replace(failed=failed, known=self.reduced(last.known, cost=True, usage=usage))
            with suppress(InvalidEventError):
                return self.recorder.encoded(self.event(item, tries.outcomes))
        tries.outcomes[-1] = last._replace(failed=failed, known=self.reduced(last.known, cost=False, usage=False))
        return self.recorder.encoded(self.event(item, tries.outcomes))

    def _release(self, tries: Tries[Known]) -> None:
        """Give up the folder of the last attempt: its event is safe, or another attempt begins."""
        if tries.outcomes and (workspace := tries.outcomes[-1].workspace) is not None:
            self.executor.release(workspace)


def _unloggable(failed: Failed | None, broken: str, problem: InvalidEventError) -> Failed:
    """Return the failure of an attempt whose outcome no log can hold."""
    if failed is None:
        return Failed(broken, f"what came back cannot be logged: {problem}")
    return replace(failed, message=f"{failed.message} (what was known of it cannot be logged: {problem})")
