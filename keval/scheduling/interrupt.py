"""Ends a run in good order when the user presses Ctrl-C or the terminal goes away.

The first Ctrl-C (or SIGTERM, or the SIGHUP of a connection that broke off) sets `stop`: no new
tasks, what is in flight is finished and written. The second Ctrl-C cancels what is in flight; a
SIGHUP never does, since shell and system may each send one. Nothing written is lost either way.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from keval.errors import InterruptError, KevalError, Warn
from keval.processes.gc_tuning import seldom_collected
from keval.secrets.variables import Secrets

Result = TypeVar("Result")


def run(main: Callable[[asyncio.Event], Awaitable[None]], warn: Warn) -> None:
    """Run a coroutine to its end. Raises InterruptError if it was asked to stop before."""
    _redact_what_libraries_print()
    try:
        with seldom_collected(), _in_this_folder():
            asyncio.run(_run(main, warn))
    except BaseExceptionGroup as group:
        # A task group wraps what its tasks raise; the first error about the run is the one to tell.
        about_run, bugs = group.split(KevalError)
        if bugs is not None or about_run is None:
            raise
        raise _first(about_run) from None


def ask(question: Coroutine[Any, Any, Result]) -> Result:
    """Run what only asks, and writes nothing: a signal cancels it at once, and it ends what it started.

    Raises InterruptError.
    """
    _redact_what_libraries_print()

    async def asking() -> Result:
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(question)
        numbers = {signal.SIGTERM, *([] if _ignores_hangup() else [signal.SIGHUP])}
        for number in numbers:
            loop.add_signal_handler(number, task.cancel)
        try:
            return await task
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    try:
        return asyncio.run(asking())
    except asyncio.CancelledError:
        raise InterruptError("interrupted") from None


class Stops(NamedTuple):
    """What ends the work of a command: nothing new is begun when it is set."""

    user: asyncio.Event
    """Set by the user."""
    enough: asyncio.Event
    """Set by the user, and by a budget that is reached."""


@asynccontextmanager
async def stops_of(user: asyncio.Event) -> AsyncIterator[Stops]:
    """Give the events that end the work of a command, whose user sets the first one."""
    stops = Stops(user, asyncio.Event())

    async def follow() -> None:
        await user.wait()
        stops.enough.set()

    following = asyncio.ensure_future(follow())
    try:
        yield stops
    finally:
        following.cancel()


@contextmanager
def _in_this_folder() -> Iterator[None]:
    """Go back to the folder in which the command runs: a function of the user's may have changed it."""
    here = None
    with suppress(OSError):  # it may be removed
        here = Path.cwd()
    try:
        yield
    finally:
        if here is not None:
            with suppress(FileNotFoundError):  # it was removed meanwhile, and the log with it: that is told
                os.chdir(here)


def _ignores_hangup() -> bool:
    """Return whether the terminal may go away, as `nohup` wants it."""
    return signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


class _Redacting(logging.Formatter):
    """Takes the values of secrets out of what libraries print on stderr."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text, its traceback included."""
        return Secrets.redact_all(super().format(record))


def _redact_what_libraries_print() -> None:
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Redacting())


def _first(group: BaseExceptionGroup[KevalError]) -> KevalError:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


async def _run(main: Callable[[asyncio.Event], Awaitable[None]], warn: Warn) -> None:
    stop = asyncio.Event()
    work = asyncio.ensure_future(main(stop))
    loop = asyncio.get_running_loop()
    asked = hung_up = False

    def interrupted() -> None:
        nonlocal asked
        if asked:
            work.cancel()
            return
        asked = True
        stop.set()
        warn("stopping: what is in flight will be finished (Ctrl-C again to stop at once)")

    def disconnected() -> None:
        nonlocal hung_up
        hung_up = True
        stop.set()

    handlers = {signal.SIGINT: interrupted, signal.SIGTERM: interrupted}
    if not _ignores_hangup():
        handlers[signal.SIGHUP] = disconnected
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        await work
    except asyncio.CancelledError as error:
        if not asked:
            raise RuntimeError("the work was cancelled, and nobody had asked for that") from error
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)
    if asked or hung_up:
        raise InterruptError("interrupted; the same command does what is missing")
