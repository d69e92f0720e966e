"""Limits how many Claude Codes start at once, whatever the number of answers in flight.

A start is a second's work for one processor; more at once make each of them slower, until none is ready in time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Self
from weakref import WeakKeyDictionary

LONGEST_START_S = 5.0
"""Who takes longer than that is no longer at work, but waits for a server: others may start meanwhile."""

SIGN_EVERY_S = 1.0
"""How often whoever waits to start gives a sign of life."""

_places: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, asyncio.Semaphore]] = WeakKeyDictionary()


def usual() -> int:
    """Return how many may start at once: one for each processor that this process may use, at least two."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(2, processors)


class Start:
    """One start: it holds one of `most` places while this is entered, and at most for `LONGEST_START_S`."""

    def __init__(self, most: int, on_wait: Callable[[], None]) -> None:
        self._most = most
        self._on_wait = on_wait
        self._place: asyncio.Semaphore | None = None
        self._late: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        """Wait for a place; who waits is alive, and says so."""
        loop = asyncio.get_running_loop()
        place = _places.setdefault(loop, {}).setdefault(self._most, asyncio.Semaphore(self._most))
        waiting = asyncio.ensure_future(place.acquire())
        try:
            while not waiting.done():
                self._on_wait()
                await asyncio.wait({waiting}, timeout=SIGN_EVERY_S)
        except BaseException:
            if not waiting.cancel():
                place.release()
            raise
        self._place = place
        self._late = loop.call_later(LONGEST_START_S, self._give_back)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._late is not None:
            self._late.cancel()
        self._give_back()

    def _give_back(self) -> None:
        if self._place is not None:
            self._place.release()
            self._place = None
