"""Lets a command that reads a pipe read on after the first Ctrl-C, which goes to all commands of the pipe at once.

Those before it finish what is in flight, and pass it on: answers that were paid. Whoever leaves then loses them, and
leaves the others a pipe that nobody reads.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from keval.errors import Warn


class ReadingOn:
    """Handles a Ctrl-C: the first one by saying that what still comes in will be read, any other as it was before."""

    def __init__(self, warn: Warn, before: Callable[[int, FrameType | None], object]) -> None:
        self._warn = warn
        self._before = before
        self._is_over = False

    def end(self) -> None:
        """Say that nothing more comes in: any Ctrl-C is handled as it was before."""
        self._is_over = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle one, as `signal.signal` has it."""
        if self._is_over:
            self._before(number, frame)
            return
        self._is_over = True
        self._warn("stopping: what still comes in will be read (Ctrl-C again to stop at once)")


@contextmanager
def read_to_the_end(warn: Warn) -> Iterator[ReadingOn]:
    """Take the first Ctrl-C for a reason to wait for the end of stdin, and only the second one for one to stop.

    So it is until the block ends, or what it gives is told that stdin has ended. At a terminal, or with stdin closed,
    nothing else would come, and the first one stops.
    """
    before = signal.getsignal(signal.SIGINT)
    reading = ReadingOn(warn, before if callable(before) else signal.default_int_handler)
    in_background = before is signal.SIG_IGN
    nothing_would_come = sys.stdin is None or sys.stdin.isatty()
    if in_background or nothing_would_come or not is_main_thread():
        yield reading
        return
    signal.signal(signal.SIGINT, reading)
    try:
        yield reading
    finally:
        reading.end()
        if signal.getsignal(signal.SIGINT) is reading and is_main_thread():
            signal.signal(signal.SIGINT, before)


def is_main_thread() -> bool:
    """Return whether this thread may say what a signal does."""
    return threading.current_thread() is threading.main_thread()
