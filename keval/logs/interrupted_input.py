"""Lets a command that reads a pipe read on after the first Ctrl-C, which goes to all commands of the pipe at once.

Those before it finish what is in flight, and pass it on: answers that were paid. Whoever leaves then loses them, and
leaves the others a pipe that nobody reads.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from keval.errors import Warn


@contextmanager
def read_to_the_end(warn: Warn) -> Iterator[None]:
    """Take the first Ctrl-C for a reason to wait for the end of stdin, and only the second one for one to stop.

    At a terminal, or with stdin closed, nothing else would come, and the first one stops.
    """
    before = signal.getsignal(signal.SIGINT)

    def interrupted(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        warn("stopping: what still comes in will be read (Ctrl-C again to stop at once)")

    in_background = before is signal.SIG_IGN
    nothing_would_come = sys.stdin is None or sys.stdin.isatty()
    if in_background or nothing_would_come or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
