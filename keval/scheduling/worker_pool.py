"""How many items are worked on at once, and how the work ends in good order.

This file knows none of agents, judges and events: it is given items and a coroutine that does one of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

Take = Callable[[], Awaitable[Item | None]]
"""Waits for the next item; None when there will be no more. Several may wait at once."""


class WorkerPool:
    """Workers that do one item after the other, at most `at_once` of them; whoever waits is replaced meanwhile.

    Items are taken one by one when there is somebody for them, so memory does not grow with their number. `stop` ends
    the taking; what is in flight is finished.
    """

    def __init__(self, at_once: int, stop: asyncio.Event) -> None:
        self._at_once = at_once
        self._stop = stop
        self._workers = 0
        self._aside = 0
        self._begin: Callable[[], object] = lambda: None

    async def work_off(self, items: Iterable[Item] | Take[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        """Do `work` for every item. An exception of it is about the run: it cancels the rest and is raised."""
        take = items if callable(items) else _at_hand(items)

        async def worker() -> None:
            while self._workers - self._aside <= self._at_once and not self._stop.is_set():
                item = await take()
                if item is None or self._stop.is_set():
                    break
                if self._workers < self._at_once + self._aside:
                    self._hire()
                await work(item)
            self._workers -= 1

        async with asyncio.TaskGroup() as group:
            self._begin = lambda: group.create_task(worker())
            self._hire()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Wait, while this is entered, without holding up another item; there are never more than twice the workers.

        Nobody is hired for what turns out not to wait.
        """
        self._aside += 1
        asyncio.get_running_loop().call_soon(self._replace)
        try:
            yield
        finally:
            self._aside -= 1

    def _hire(self) -> None:
        """Begin another worker if there is one too few; who takes an item sees to it that the next is taken."""
        if self._workers - self._aside < self._at_once and self._workers < 2 * self._at_once:
            self._workers += 1
            self._begin()

    def _replace(self) -> None:
        if self._aside:
            self._hire()


def _at_hand(items: Iterable[Item]) -> Take[Item]:
    """Return what takes items that need not be waited for."""
    iterator = iter(items)

    async def take() -> Item | None:
        return next(iterator, None)

    return take
