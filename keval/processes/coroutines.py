"""Runs coroutines of the user's in an event loop of their own, in a thread: one that blocks holds up nothing else.

It is one loop for all of them: what calls share, such as a client with its connections, belongs to one loop. So one
that blocks holds up the others, and it is known when the loop stood still. Decision 105.
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
"""A loop that is so late stands still: a busy machine alone makes it late by less."""

_BEAT_S = 0.25
"""How often it is looked whether the loop goes on."""


class _UserLoop:
    """An event loop that runs in a thread, what runs in it, and since when it has last stood still."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.tasks: set[asyncio.Task[object]] = set()
        """What runs in it: a loop itself holds no task that nothing wakes."""
        self._due_s = time.monotonic()
        self._stood_until_s = -1.0
        self.loop.call_soon(self._beat)
        # A daemon: what blocks the loop for ever must not keep keval from ending.
        threading.Thread(target=self._run, name="keval-coroutines", daemon=True).start()

    def _run(self) -> None:
        while True:  # a task that calls `sys.exit`, or stops the loop, ends itself and no other one
            with suppress(SystemExit, KeyboardInterrupt):
                self.loop.run_forever()

    def _beat(self) -> None:
        now_s = time.monotonic()
        if now_s - self._due_s > STALLED_S:
            self._stood_until_s = now_s
        self._due_s = now_s + _BEAT_S
        self.loop.call_at(self._due_s, self._beat)

    def stood_still(self, since_s: float) -> bool:
        """Return whether it has stood still at any time since then, by the monotonic clock."""
        return self._stood_until_s > since_s or time.monotonic() - self._due_s > STALLED_S


@cache
def _user_loop() -> _UserLoop:
    return _UserLoop()


def stood_still(since_s: float) -> bool:
    """Return whether something blocked the coroutines of the user's since then, by the monotonic clock."""
    return bool(_user_loop.cache_info().currsize) and _user_loop().stood_still(since_s)


async def awaited(given: Awaitable[object]) -> object:
    """Wait for an awaitable of the user's that runs in the loop of these, and return what it does.

    One that cancels itself is not taken for one that we cancel. Who is cancelled here cancels it, and waits a while for
    its end: what it returns then counts. One that refuses to end is left behind.
    """
    ours, theirs = asyncio.get_running_loop(), _user_loop()
    done: asyncio.Future[object] = ours.create_future()
    begun: list[asyncio.Task[object]] = []

    def begin() -> None:
        task = theirs.loop.create_task(_contained(given))
        begun.append(task)
        theirs.tasks.add(task)
        task.add_done_callback(tell)

    def tell(task: asyncio.Task[object]) -> None:
        theirs.tasks.discard(task)
        if not task.cancelled():
            task.exception()  # else it is told at the end where nobody waits any more
        if isinstance(given, Coroutine):
            given.close()  # else it is told of one that was cancelled before it began
        with suppress(RuntimeError):  # our loop is closed: nobody waits any more
            ours.call_soon_threadsafe(_settle, done, task)

    def cancel() -> None:
        begun[0].cancel()  # which has begun: what comes first is called first

    theirs.loop.call_soon_threadsafe(begin)
    try:
        await asyncio.wait({done})
    except asyncio.CancelledError:
        theirs.loop.call_soon_threadsafe(cancel)
        try:
            await asyncio.wait({done}, timeout=GRACE_S)
        finally:
            done.add_done_callback(_taken_note_of)
        if not done.done() or done.cancelled():
            raise
    return done.result()


def end_all() -> None:
    """Cancel what the user's coroutines have left running in their loop, and wait a while for its end."""
    if not _user_loop.cache_info().currsize or stood_still(time.monotonic()):
        return
    loop, ended = _user_loop().loop, threading.Event()

    async def end() -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        ended.set()

    loop.call_soon_threadsafe(lambda: _user_loop().tasks.add(loop.create_task(end())))
    ended.wait(GRACE_S)


def _settle(done: asyncio.Future[object], task: asyncio.Task[object]) -> None:
    if done.done():
        return
    if task.cancelled():
        done.cancel()
    elif (error := task.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())


def _taken_note_of(done: asyncio.Future[object]) -> None:
    """Let nothing be said at the end of what a coroutine raised after nobody waited for it any more."""
    if not done.cancelled():
        done.exception()


async def _contained(given: Awaitable[object]) -> object:
    """Wait for what the user gave, whose end is no end of the loop."""
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
