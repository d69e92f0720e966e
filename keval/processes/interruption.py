"""Calls an interruption by its name: a library through which a Ctrl-C comes may make any error of it.

DuckDB says that a query was interrupted, that numpy is not installed, or that a connection is busy.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from keval.processes.interrupted_input import STOPPING, Handler, ReadingOn, is_main_thread


def end_as_by_ctrl_c() -> None:
    """Take what would kill this process, SIGTERM or a terminal that goes away, for a Ctrl-C, after which it cleans up.

    What is ignored, as by `nohup`, stays so.
    """
    for number in STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


@contextmanager
def held_back() -> Iterator[None]:
    """Let what stops this process wait for the end of the block, which makes something and says how it goes away."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Noting:
    """Handles a signal as it was before, and remembers that it raised KeyboardInterrupt."""

    def __init__(self, before: Handler) -> None:
        self.before = before
        self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        try:
            self.before(number, frame)
        except KeyboardInterrupt:
            self.came = True
            raise


@contextmanager
def told_as_such() -> Iterator[None]:
    """Raise KeyboardInterrupt in the place of any error of the block after a Ctrl-C that raised it.

    So it is after any other signal that does. Where one does something else, as in a run that finishes what is in
    flight, nothing changes; nor does it under `nohup`, or in another thread.
    """
    notes = dict(_notes() if is_main_thread() else ())
    for number, note in notes.items():
        signal.signal(number, note)
    try:
        yield
    except Exception as error:
        if any(note.came for note in notes.values()):
            raise KeyboardInterrupt from error
        raise
    finally:
        # Else a run has begun, which finishes what is in flight; or the viewer closes here what it opened elsewhere.
        for number, note in notes.items():
            is_as_left = signal.getsignal(number) is note
            if is_as_left and is_main_thread():
                signal.signal(number, note.before)


def _notes() -> Iterator[tuple[int, _Noting]]:
    """Yield the signals that may raise KeyboardInterrupt, each with what notes it."""
    for number in STOPPING:
        before = signal.getsignal(number)
        may_raise = before is signal.default_int_handler or isinstance(before, _Noting | ReadingOn)
        if callable(before) and may_raise:
            yield number, _Noting(before)
