"""Does what follows an event once it is safe, while whoever wrote it goes on to the next item.

A disk takes its time. Who has written an event and waited for that, too, would ask nobody anything meanwhile.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from keval.logs.sinks import UntilSafe

Item = TypeVar("Item")
Queued = TypeVar("Queued")


class Settling(Generic[Item]):
    """Items whose events are written, in that order, until each is settled and told of: never more than `most` of them.

    `settle` is called once an item's event is safe, then `tell`; what that returns is waited for before others are told
    of the next one. `give_up` is called for those that are not settled when this is cancelled, or an event could not be
    made safe.
    """

    def __init__(
        self,
        most: int,
        settle: Callable[[Item], None],
        tell: Callable[[Item], Awaitable[None] | None],
        give_up: Callable[[Item], None],
    ) -> None:
        self._most = most
        self._settle = settle
        self._tell = tell
        self._give_up = give_up
        self._written: _Queue[tuple[Item, UntilSafe]] = _Queue()
        self._settled: _Queue[Item] = _Queue()
        self._room = asyncio.Event()
        """Set when an item has gone, for those who wait to bring one."""
        self._has_ended = False

    async def bring(self, item: Item, until_safe: UntilSafe) -> None:
        """Bring an item; wait first while there are too many."""
        while len(self._written.items) + len(self._settled.items) >= self._most and not self._has_ended:
            self._room.clear()
            await self._room.wait()
        if self._has_ended:
            self._give_up(item)
        else:
            self._written.add((item, until_safe))

    def end(self) -> None:
        """Say that no more items come."""
        self._written.end()

    async def work_off(self) -> None:
        """Settle what is brought, and tell of it, until the end; raises what keeps an event from being safe."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._settle_all())
                group.create_task(self._tell_of_all())
        finally:
            self._has_ended = True
            self._room.set()
            while self._written.items:
                self._give_up(self._written.items.popleft()[0])

    async def _settle_all(self) -> None:
        while await self._written.has_one():
            item, until_safe = self._written.items[0]
            if until_safe is not None:
                await until_safe
            self._written.items.popleft()
            self._settle(item)
            self._settled.add(item)
        self._settled.end()

    async def _tell_of_all(self) -> None:
        while await self._settled.has_one():
            if (told := self._tell(self._settled.items[0])) is not None:
                await told
            self._settled.items.popleft()
            self._room.set()


class _Queue(Generic[Queued]):
    """Items in order, for one who takes them; asyncio's own says nothing of an end before Python 3.13."""

    def __init__(self) -> None:
        self.items: deque[Queued] = deque()
        self._has_ended = False
        self._changed = asyncio.Event()

    def add(self, item: Queued) -> None:
        self.items.append(item)
        self._changed.set()

    def end(self) -> None:
        self._has_ended = True
        self._changed.set()

    async def has_one(self) -> bool:
        """Wait until there is an item, or none will come; return whether there is one."""
        while not self.items and not self._has_ended:
            self._changed.clear()
            await self._changed.wait()
        return bool(self.items)
