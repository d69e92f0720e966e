"""Runs coroutines of the user's in an event loop of their own, in a thread: one that blocks holds up nothing else.

It is one loop for all of them: what calls share, such as a client with its connections, belongs to one loop. So one
that blocks holds up the others, which is told of those that came to no end by it. Decision 105.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from functools import cache

GRACE_S = 5.0
"""How long a coroutine may take to end once it is cancelled."""

STALLED_S = 1.0
"""For how long the loop may stand still beside a coroutine that comes to no end before that is taken for the reason."""

_BEAT_S = 0.25
"""How often it is looked whether the loop goes on."""


class StalledError(Exception):
    """A coroutine came to no end in its time, of which the loop stood still for a part."""


class _Loop:
    """An event loop that runs in a thread, and for how long it has stood still."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._stood_s = 0.0
        self._due = time.monotonic()
        self.loop.call_soon(self._beat)
        # A daemon: what blocks the loop for ever must not keep keval from ending.
        threading.Thread(target=self.loop.run_forever, name="keval-coroutines", daemon=True).start()

    def _beat(self) -> None:
        self._stood_s = self.stood_s()
        self._due = time.monotonic() + _BEAT_S
        self.loop.call_at(self._due, self._beat)

    def stood_s(self) -> float:
        """Return for how many seconds it has stood still so far."""
        return self._stood_s + max(0.0, time.monotonic() - self._due)


@cache
def _theirs() -> _Loop:
    return _Loop()


async def awaited(given: Awaitable[object]) -> object:
    """Wait for an awaitable of the user's that runs in the loop of these, and return what it does.

    One that cancels itself is not taken for one that we cancel. Who is cancelled here cancels it, and waits a while for
    its end: what it returns then counts. One that refuses to end is left behind. Raises StalledError where it came to
    no end because something blocks its loop.
    """
    ours, theirs = asyncio.get_running_loop(), _theirs()
    stood_s, done, tasks = theirs.stood_s(), ours.create_future(), list[asyncio.Task[object]]()

    def begin() -> None:
        tasks.append(theirs.loop.create_task(_ended(given)))
        tasks[0].add_done_callback(tell)

    def tell(task: asyncio.Task[object]) -> None:
        if not task.cancelled():
            task.exception()  # else it is told at the end where nobody waits any more
        if isinstance(given, Coroutine):
            given.close()  # else it is told of one that was cancelled before it began
        with suppress(RuntimeError):  # our loop is closed: nobody waits any more
            ours.call_soon_threadsafe(_settle, done, task)

    def cancel() -> None:
        tasks[0].cancel()

    theirs.loop.call_soon_threadsafe(begin)
    try:
        await asyncio.wait({done})
    except asyncio.CancelledError:
        stood_s = theirs.stood_s() - stood_s
        theirs.loop.call_soon_threadsafe(cancel)
        await asyncio.wait({done}, timeout=GRACE_S)
        if not done.done() or done.cancelled():
            if stood_s > STALLED_S:
                raise StalledError(f"an async function blocks: for {stood_s:.1f} s no other one went on") from None
            raise
    return done.result()


def _settle(done: asyncio.Future[object], task: asyncio.Task[object]) -> None:
    error = None if task.cancelled() else task.exception()
    if done.done():
        return
    if task.cancelled():
        done.cancel()
    elif error is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())


async def _ended(given: Awaitable[object]) -> object:
    running = asyncio.current_task()
    try:
        return await given
    except (Exception, asyncio.CancelledError):
        raise  # a cancellation may be ours: only who waits can tell
    except BaseException as error:  # it is raised again, but as what ends no run
        if isinstance(error, GeneratorExit) and _current_task() is not running:
            raise  # it is not the function's: nobody waits any more, and this is closed
        raise raisable(error) from error


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop is running
        return None


def raisable(error: BaseException) -> BaseException:
    """Return what may be raised where a function is awaited: a call of `sys.exit` ends the function, not the run."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    made = RuntimeError(f"{type(error).__name__}: {error}")
    return made.with_traceback(error.__traceback__)
