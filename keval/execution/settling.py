"""Does what follows an event once it is safe, while whoever wrote it goes on to the next item.

A disk takes its time. Who has written an event and waited for that, too, would ask nobody anything meanwhile.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from keval.logs.stream import Unsafe

Item = TypeVar("Item")


class Settling(Generic[Item]):
    """Items whose events are written, in that order, until each is settled: never more than `most` of them.

    `settle` is called once an item's event is safe, and what it returns is waited for before the next one; `give_up`
    is called for those that are left when this is cancelled, or an event could not be made safe.
    """

    def __init__(
        self, most: int, settle: Callable[[Item], Awaitable[None] | None], give_up: Callable[[Item], None]
    ) -> None:
        self._most = most
        self._settle = settle
        self._give_up = give_up
        self._items: deque[tuple[Item, Unsafe]] = deque()
        self._more = asyncio.Event()
        """Set when there is something to do: another item, or the end."""
        self._room = asyncio.Event()
        """Set when an item was settled, for those who wait to bring one."""
        self._is_ending = False

    async def bring(self, item: Item, unsafe: Unsafe) -> None:
        """Bring an item; wait first while there are too many."""
        while len(self._items) >= self._most:
            self._room.clear()
            await self._room.wait()
        self._items.append((item, unsafe))
        self._more.set()

    def end(self) -> None:
        """Say that no more items come."""
        self._is_ending = True
        self._more.set()

    async def work_off(self) -> None:
        """Settle what is brought until the end; raises what keeps an event from being safe."""
        try:
            while self._items or await self._is_there_one():
                item, unsafe = self._items[0]
                if unsafe is not None:
                    await unsafe
                self._items.popleft()
                self._room.set()
                if (told := self._settle(item)) is not None:
                    await told
        finally:
            while self._items:
                self._give_up(self._items.popleft()[0])

    async def _is_there_one(self) -> bool:
        while not self._items and not self._is_ending:
            self._more.clear()
            await self._more.wait()
        return bool(self._items)
