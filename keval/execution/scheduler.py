"""When work is done: bounded concurrency, the wait before another attempt, an orderly stop.

This file knows none of agents, judges and events: it is given items and a coroutine that does one of them.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from keval.execution.specs import Failed
from keval.retry import Retry

Item = TypeVar("Item")

LONGEST_BACKOFF_S = 120.0
"""No wait between two attempts is longer, whatever the service asks for."""


def backoff_s(retry: Retry, failed_attempts: int) -> float:
    """Return the wait after that many failed attempts, without jitter: initial · multiplier^(n−1)."""
    return min(retry.initial_backoff_s * retry.backoff_multiplier ** (failed_attempts - 1), LONGEST_BACKOFF_S)


class Limiter:
    """Lets a limited number of attempts run at once, and fewer while the service says «too many».

    Additive increase, multiplicative decrease: each overload halves the limit, each full round of
    successes raises it by one until it is back at what the config allows.
    """

    def __init__(self, max_concurrent: int) -> None:
        self.max_concurrent = max_concurrent
        self.limit = max_concurrent
        self.running = 0
        self._successes = 0
        self._free = asyncio.Condition()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the slots."""
        async with self._free:
            await self._free.wait_for(lambda: self.running < self.limit)
            self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            async with self._free:
                self._free.notify_all()

    def adjust(self, failed: Failed | None) -> None:
        """Adjust the limit after an attempt: an overload halves it, a full round of successes raises it."""
        if failed is None:
            self._succeeded()
        elif failed.overloaded:
            self.limit = max(1, self.limit // 2)
            self._successes = 0

    def _succeeded(self) -> None:
        self._successes += 1
        if self._successes >= self.limit < self.max_concurrent:
            self.limit += 1
            self._successes = 0


async def pause(retry: Retry, failed_attempts: int, failed: Failed | None, stop: asyncio.Event) -> None:
    """Wait before another attempt, or until `stop` is set.

    A wait is between half and the whole backoff, and at least what the service asked for.
    """
    wait_s = backoff_s(retry, failed_attempts) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
    asked_s = failed.retry_after_s if failed else None
    await _wait(min(max(wait_s, asked_s or 0.0), LONGEST_BACKOFF_S), stop)


async def _wait(seconds: float, stop: asyncio.Event) -> None:
    """Wait so long, or until `stop` is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


async def work_off(
    items: Iterable[Item] | AsyncIterator[Item],
    work: Callable[[Item], Awaitable[None]],
    *,
    at_once: int,
    stop: asyncio.Event,
) -> None:
    """Do `work` for every item, at most `at_once` items begun and not finished.

    Items are taken one by one when there is room, so memory does not grow with their number.
    `stop` ends the taking; what is in flight is finished. An exception of `work` is about the run:
    it cancels the rest and is raised.
    """
    source = items if isinstance(items, AsyncIterator) else _each(items)
    room = asyncio.Semaphore(at_once)

    async def one(item: Item) -> None:
        try:
            await work(item)
        finally:
            room.release()

    async with asyncio.TaskGroup() as group:
        while True:
            await room.acquire()
            item = await _next(source, stop)
            if item is None:
                return
            group.create_task(one(item))


async def _next(items: AsyncIterator[Item], stop: asyncio.Event) -> Item | None:
    """Return the next item, or None at the end or as soon as `stop` is set."""
    item = None if stop.is_set() else await anext(items, None)
    return None if stop.is_set() else item


async def _each(items: Iterable[Item]) -> AsyncIterator[Item]:
    for item in items:
        yield item
