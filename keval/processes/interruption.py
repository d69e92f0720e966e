"""Calls an interruption by its name: a library through which a Ctrl-C comes may make any error of it.

DuckDB says that a query was interrupted, that numpy is not installed, or that a connection is busy.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from keval.processes.interrupted_input import ReadingOn, is_main_thread


class _Noting:
    """Handles a Ctrl-C as it was before, and remembers that it raised KeyboardInterrupt."""

    def __init__(self, before: Callable[[int, FrameType | None], object]) -> None:
        self._before = before
        self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        try:
            self._before(number, frame)
        except KeyboardInterrupt:
            self.came = True
            raise


@contextmanager
def told_as_such() -> Iterator[None]:
    """Raise KeyboardInterrupt in the place of any error of the block after a Ctrl-C that raised it.

    Where Ctrl-C does something else than to raise it, as in a run that finishes what is in flight, nothing changes; nor
    does it under `nohup`, or in another thread.
    """
    before = signal.getsignal(signal.SIGINT)
    may_raise = before is signal.default_int_handler or isinstance(before, _Noting | ReadingOn)
    if not callable(before) or not may_raise or not is_main_thread():
        yield
        return
    note = _Noting(before)
    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if note.came:
            raise KeyboardInterrupt from error
        raise
    finally:
        # Else a run has begun, which finishes what is in flight; or the viewer closes here what it opened elsewhere.
        if signal.getsignal(signal.SIGINT) is note and is_main_thread():
            signal.signal(signal.SIGINT, before)
