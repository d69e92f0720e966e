"""What `generate` and `judge` have in common: each item ends in one event, whatever becomes of it.

An item is tried until it is done, its error is final, or its attempts or the money are used up.
Every attempt and what it cost stays in the item's event. One item's failure never touches another.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Generic, TypeVar

from keval.errors import ItemError
from keval.events import InvalidEventError, encode
from keval.execution.budget import Ledger, total_usd
from keval.execution.progress import Progress
from keval.execution.scheduler import Limiter, attempts, work_off
from keval.ids import JsonObject
from keval.logs.redaction import redacted
from keval.logs.stream import Sink
from keval.retry import Retry
from keval.secrets.variables import Secrets
from keval.usage import Usage

Item = TypeVar("Item")


@dataclass
class Work(Generic[Item]):
    """One item while it is worked on."""

    item: Item
    reserved_usd: float
    """What is set aside for the attempt that runs or is to come."""
    remains: ExitStack = field(default_factory=ExitStack)
    """What is to be cleaned up of the last attempt, once its event is safe or another attempt begins."""
    failed: list[JsonObject] = field(default_factory=list)
    """The records of the attempts before the last one that was begun."""
    booked: JsonObject | None = None
    """The record of that last one once it has failed and is paid, while the item waits to be tried again."""
    _began: float = 0.0
    _ended: float | None = None

    def begin(self) -> None:
        """Begin an attempt."""
        self.remains.close()
        if self.booked is not None:
            self.failed.append(self.booked)
        self.booked = None
        self._began, self._ended = time.monotonic(), None

    def end(self) -> None:
        """End the attempt: what follows is no part of its time."""
        self._ended = time.monotonic()

    @property
    def duration_ms(self) -> int:
        """How long the last attempt took, or has taken so far."""
        ended = time.monotonic() if self._ended is None else self._ended
        return round((ended - self._began) * 1000)


@dataclass(frozen=True, slots=True)
class EncodedEvent:
    """An item's event: checked and encoded once."""

    event: JsonObject
    line: bytes
    unredacted: JsonObject
    """The event with the values of secrets in it."""


@dataclass(frozen=True, kw_only=True)
class Stage(ABC, Generic[Item]):
    """One run of a stage: what it writes to, counts in and spends from."""

    run_id: str
    sink: Sink
    mock: bool
    progress: Progress
    ledger: Ledger
    stop: asyncio.Event
    """Set by the user or by a budget that is reached: no new items."""
    retry: Retry
    max_concurrent: int
    secrets: Secrets
    """What must be in no event."""

    @abstractmethod
    def kind(self, item: Item) -> str:
        """Return what an item counts as in the ledger and the progress: its condition, or its judge."""

    @abstractmethod
    async def attempt(self, work: Work[Item]) -> JsonObject:
        """Do an item and return its event. Raises ItemError."""

    @abstractmethod
    def failed_attempt(self, work: Work[Item], error: ItemError) -> JsonObject:
        """Return the record of an attempt that failed."""

    @abstractmethod
    def failure(self, work: Work[Item], error: ItemError) -> JsonObject:
        """Return the event of an item whose last attempt failed."""

    @abstractmethod
    def invalid(self, event: JsonObject, message: str) -> ItemError:
        """Return the error of an item from which something came back that no log can hold; it keeps the cost."""

    @abstractmethod
    def keep_cost(self, work: Work[Item], error: ItemError, *, usage: bool) -> None:
        """Take from an error all that is known of its attempt but the cost, and the usage where that is to stay."""

    async def done(self, encoded: EncodedEvent) -> None:
        """Take note of an item's event, which is safe."""

    async def work_off(self, items: Iterable[Item] | AsyncIterator[Item]) -> None:
        """Do all items; returns when each has its event or `stop` was set and none is in flight."""
        limiter = Limiter(self.max_concurrent)

        async def work(item: Item) -> None:
            with ExitStack() as remains:
                await self._do(item, limiter, remains)

        # Twice as many begun as run at once: an item that waits to be tried again holds up no other.
        await work_off(items, work, at_once=2 * self.max_concurrent, stop=self.stop)

    async def _do(self, item: Item, limiter: Limiter, remains: ExitStack) -> None:
        kind = self.kind(item)
        reserved = await self.ledger.reserve_in_time(kind, self.stop)
        if reserved is None:
            return
        work = Work(item, reserved, remains)

        def on_retry(error: ItemError) -> None:
            failed = self.failed_attempt(work, error)
            renewed = self.ledger.renew(kind, work.reserved_usd, failed["cost_usd"])
            if renewed is None:
                self.stop.set()
                error.message = f"the budget does not allow another attempt after {error.kind}: {error.message}"
                error.kind = "budget"
                raise error
            work.reserved_usd = renewed
            work.booked = failed

        async def attempt() -> EncodedEvent:
            work.begin()
            self.progress.started(kind)
            try:
                encoded = await self._attempt(work)
            finally:
                work.end()
                self.progress.ended(kind)
            await self.sink.write(encoded.line)
            return encoded

        try:
            # The slot is held until the event is safe: a crash never loses more of them than there are slots.
            encoded = await attempts(attempt, self.retry, limiter, on_retry, self.stop)
        except ItemError as error:
            encoded = self._encoded(self.failure(work, error))
            await self.sink.write(encoded.line)
        remains.close()
        if encoded is None:
            self.ledger.release(work.reserved_usd)
            return
        written = encoded.event
        if work.booked is None:
            self.ledger.settle(kind, work.reserved_usd, written["cost_usd"])
        else:
            self.ledger.release(work.reserved_usd)
        cost_usd = total_usd(written["cost_usd"], work.failed)
        self.progress.finished(kind, failed=written["type"] == "failure", cost_usd=cost_usd)
        await self.done(encoded)

    async def _attempt(self, work: Work[Item]) -> EncodedEvent:
        """Do an item and return its event, or raise an ItemError, of which the log can hold all that it says."""
        try:
            event = await self.attempt(work)
        except ItemError as error:
            raise self._loggable(work, error) from error.__cause__
        try:
            return self._encoded(event)
        except InvalidEventError as problem:
            told = self.invalid(event, f"what came back cannot be logged: {problem}")
            raise self._loggable(work, told) from problem

    def _loggable(self, work: Work[Item], error: ItemError) -> ItemError:
        """Return an error with as much of what is known of its attempt as the log can hold: its cost before all."""
        problem = self._problem(work, error)
        if problem is None:
            return error
        error.message += f" (what was known of it cannot be logged: {problem})"
        for usage in (True, False):
            self.keep_cost(work, error, usage=usage)
            if self._problem(work, error) is None:
                return error
        return _bare(error)

    def _problem(self, work: Work[Item], error: ItemError) -> InvalidEventError | None:
        """Return why the failure of an item cannot be logged, None if it can."""
        try:
            self._encoded(self.failure(work, error))
        except InvalidEventError as problem:
            return problem
        return None

    def _encoded(self, unredacted: JsonObject) -> EncodedEvent:
        """Return an event without the values of secrets, and its line; raises InvalidEventError."""
        event = redacted(unredacted, self.secrets)
        return EncodedEvent(event, encode(event), unredacted)


def _bare(error: ItemError) -> ItemError:
    """Return an error without what was known of the attempt."""
    return ItemError(
        error.kind,
        error.message,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        overloaded=error.overloaded,
    )


def attempt_record(
    error: ItemError, duration_ms: int, usage: Usage | None, cost_usd: float | None, leaked: Sequence[str] = ()
) -> JsonObject:
    """Return the record of one failed attempt."""
    return {
        "kind": error.kind,
        "message": error.message,
        "cost_usd": cost_usd,
        "usage": usage_field(usage),
        "duration_ms": duration_ms,
        **leaked_field(leaked),
    }


def leaked_field(leaked: Sequence[str]) -> JsonObject:
    """Return the names of processes that were left behind as records hold them: without any, not at all."""
    return {"orphaned_processes": list(leaked)} if leaked else {}


def usage_field(usage: Usage | None) -> JsonObject | None:
    """Return token counts as events hold them."""
    return None if usage is None else asdict(usage)
