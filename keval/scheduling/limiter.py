"""Lets attempts begin: so many at once as a service takes, first come, first served.

A place that falls free is handed to the one who has waited longest; nobody else is woken. Only where it is not known
that the service takes one more, the question is asked with the item that has most attempts left: an item that was
refused comes back when all others had their turn, which may be just when the next question is asked.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self

from keval.retry import Failed, Retry
from keval.scheduling.backoff import LONGEST_BACKOFF_S, backoff_s
from keval.scheduling.concurrency import Begun, Concurrency

LONGEST_SILENCE_S = 30.0
"""A service that takes nothing is tried again after so long at the latest, unless it asks for more."""

LEAST_TOLD_S = 1.0
"""People are told of waits that are as long."""


class _Turn(NamedTuple):
    """Somebody who waits."""

    number: int
    """How many came before."""
    place: asyncio.Future[None]
    """Done when there is a place."""


class Limiter:
    """The places of the attempts that run at once: `max_concurrent`, and fewer while a service says «too many»."""

    def __init__(self, max_concurrent: int, retry: Retry) -> None:
        self.concurrency = Concurrency(max_concurrent)
        self.running = 0
        self._retry = retry
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, deque[_Turn]] = {}
        """By attempts that the item had before: a queue each, none of them empty."""
        self._numbers = itertools.count()
        self._opens_s = 0.0
        """Nobody begins before, by the clock of the event loop."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    @property
    def remark(self) -> str:
        """What holds attempts back beside their turn, in words; empty for nothing.

        Who refused them is not said: a service, or this machine, which has no memory for more.
        """
        if self._is_over:
            return ""
        wait_s = self._opens_s - self._loop.time()
        if not self.running and wait_s >= LEAST_TOLD_S:
            return f"too many at once, goes on in {wait_s:.0f} s"
        allowed, most = int(self.concurrency.allowed), self.concurrency.most
        return f"too many at once, now about {allowed} of {most}" if self._waiting and allowed < most else ""

    @contextmanager
    def open_after(self, stop: asyncio.Event) -> Iterator[None]:
        """While this is entered, hold nobody back any more once `stop` is set: who passes then begins nothing."""
        opening = asyncio.ensure_future(self._open_after(stop))
        try:
            yield
        finally:
            opening.cancel()
            self._is_over = True

    async def _open_after(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._is_over = True
        self._hand_on()

    async def slot(self, attempts: int = 0) -> Slot:
        """Wait for a place for one attempt, and take it: it is held until the `with` block of the slot is left.

        `attempts` is how many the item had before.
        """
        if self._waiting or not self._is_open():
            await self._turn(attempts)
        else:
            self._take()
        return Slot(self, Begun(self._loop.time(), self.concurrency.window))

    def leave(self, begun: Begun, failed: Failed | None, *, has_ended: bool) -> None:
        """Give a place back; an attempt that has ended tells what the service takes."""
        self.running -= 1
        if has_ended:
            self._learn(begun, failed)
        if self._waiting or self._timer is not None:
            self._hand_on()

    async def _turn(self, attempts: int) -> None:
        """Wait to be handed a place. Whoever is cancelled in the very moment hands it on."""
        place = self._loop.create_future()
        self._waiting.setdefault(attempts, deque()).append(_Turn(next(self._numbers), place))
        self._hand_on()  # that sets the timer, if nothing but the time is in the way
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self.running -= 1
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        """Hand the places that are free to those who wait."""
        while self._waiting and self._is_open():
            place = self._next().place
            if not place.done():  # else it was cancelled
                self._take()
                place.set_result(None)
        self._wake_later()

    def _next(self) -> _Turn:
        """Return whose turn it is, who waits no more then."""
        queues = self._waiting
        is_known = self.running + 1 <= self.concurrency.known
        attempts = min(queues, key=lambda each: queues[each][0].number) if is_known else min(queues)
        turn = queues[attempts].popleft()
        if not queues[attempts]:
            del queues[attempts]
        return turn

    def _is_open(self) -> bool:
        """Return whether an attempt may begin now."""
        if self._is_over:
            return True
        return self._has_room() and (not self._opens_s or self._opens_s <= self._loop.time())

    def _has_room(self) -> bool:
        return self.running + 1 <= self.concurrency.allowed

    def _take(self) -> None:
        self.running += 1
        if interval_s := self.concurrency.interval_s:
            self._opens_s = max(self._opens_s, self._loop.time() + interval_s)

    def _wake_later(self) -> None:
        """Set the timer for those who wait for the time and not for a place."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and self._has_room() and not self._is_over:
            self._timer = self._loop.call_at(self._opens_s, self._hand_on)

    def _learn(self, begun: Begun, failed: Failed | None) -> None:
        """Adjust to what came of an attempt."""
        if failed is None:
            self.concurrency.succeed(begun, self._loop.time())
        elif failed.overloaded:
            self.concurrency.refuse(begun, self.running)
            if refused := self.concurrency.refused_alone:
                self._close(backoff_s(self._retry, refused), failed.retry_after_s or 0.0)

    def _close(self, silence_s: float, asked_s: float) -> None:
        """Leave a service alone that takes nothing, for so long, and at least for what it asks for.

        What is left of the time between two starts is only waited for up to the longest silence: where answers take
        minutes, so does that, and nothing is running that the next attempt could come too close to.
        """
        now_s = self._loop.time()
        silence_s = min(max(silence_s, self._opens_s - now_s), LONGEST_SILENCE_S)
        self._opens_s = now_s + min(max(silence_s, asked_s), LONGEST_BACKOFF_S)


class Slot:
    """One attempt's place among those that run at once."""

    __slots__ = ("_begun", "_failed", "_has_ended", "_limiter")

    def __init__(self, limiter: Limiter, begun: Begun) -> None:
        self._limiter = limiter
        self._begun = begun
        self._failed: Failed | None = None
        self._has_ended = False

    def ended(self, failed: Failed | None) -> None:
        """Say what came of the attempt; it counts when the place is given back."""
        self._failed, self._has_ended = failed, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._limiter.leave(self._begun, self._failed, has_ended=self._has_ended)
