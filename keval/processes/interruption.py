"""Calls an interruption by its name: a library through which a Ctrl-C comes may make any error of it.

DuckDB says that a query was interrupted, that numpy is not installed, or that a connection is busy.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Noting:
    """Handles a Ctrl-C as Python does, and remembers it."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.default_int_handler(number, frame)


@contextmanager
def told_as_such() -> Iterator[None]:
    """Raise KeyboardInterrupt in the place of any error of the block after a Ctrl-C.

    Where Ctrl-C does something else than to raise it, as in a run that finishes what is in flight, nothing changes; nor
    does it under `nohup`, or in another thread.
    """
    before = signal.getsignal(signal.SIGINT)
    raises = before is signal.default_int_handler or isinstance(before, _Noting)
    if not raises or not _is_main_thread():
        yield
        return
    note = _Noting()
    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if note.came:
            raise KeyboardInterrupt from error
        raise
    finally:
        # Else a run has begun, which finishes what is in flight; or the viewer closes here what it opened elsewhere.
        if signal.getsignal(signal.SIGINT) is note and _is_main_thread():
            signal.signal(signal.SIGINT, before)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
