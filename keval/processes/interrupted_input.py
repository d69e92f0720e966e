"""Lets a command that reads a pipe read on after the first Ctrl-C, which goes to all commands of the pipe at once.

So do SIGTERM, and the SIGHUP of a terminal that goes away. Those before it finish what is in flight, and pass it on:
answers that were paid. Whoever leaves then loses them, and leaves the others a pipe that nobody reads.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from keval.errors import Warn

Handler = Callable[[int, FrameType | None], object]


STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What goes to all commands of a pipe at once."""


class ReadingOn:
    """Handles what asks a command to stop: the first time by reading what still comes in, and saying so.

    A SIGHUP is never the second time, since shell and system may each send one; and nobody is there to be told.
    """

    def __init__(self, warn: Warn, before: Mapping[int, Handler]) -> None:
        self._warn = warn
        self._before = before
        self._is_asked = False
        self._has_ended = False

    def end(self) -> None:
        """Say that nothing more comes in: whatever asks now is handled as it was before."""
        self._has_ended = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle one, as `signal.signal` has it."""
        if self._has_ended or (self._is_asked and number != signal.SIGHUP):
            self._before[number](number, frame)
        elif number != signal.SIGHUP:
            self._is_asked = True
            self._warn("stopping: what still comes in will be read (Ctrl-C again to stop at once)")


@contextmanager
def read_to_the_end(warn: Warn) -> Iterator[ReadingOn]:
    """Take the first Ctrl-C for a reason to wait for the end of stdin, and only the second one for one to stop.

    So it is until the block ends, or what it gives is told that stdin has ended. At a terminal, or with stdin closed,
    nothing else would come, and the first one stops. What is ignored, as by `nohup`, stays so.
    """
    nothing_would_come = sys.stdin is None or sys.stdin.isatty()
    heard = [] if nothing_would_come or not is_main_thread() else [*filter(_is_heard, STOPPING)]
    before = {number: signal.getsignal(number) for number in heard}
    reading = ReadingOn(warn, {number: _stopping(handler) for number, handler in before.items()})
    for number in heard:
        signal.signal(number, reading)
    try:
        yield reading
    finally:
        reading.end()
        for number, handler in before.items():
            if signal.getsignal(number) is reading and is_main_thread():
                signal.signal(number, handler)


def _is_heard(number: int) -> bool:
    return signal.getsignal(number) not in {signal.SIG_IGN, None}  # None: who handles it could not be asked back


def _stopping(handler: Handler | int | None) -> Handler:
    """Return what stops a command: what would have, or instead of a death in mid-work an interruption."""
    return handler if callable(handler) else signal.default_int_handler


def is_main_thread() -> bool:
    """Return whether this thread may say what a signal does."""
    return threading.current_thread() is threading.main_thread()
