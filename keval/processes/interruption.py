"""Calls an interruption by its name: a library through which a Ctrl-C comes may make any error of it.

DuckDB says that a query was interrupted, that numpy is not installed, or that a connection is busy.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def told_as_such() -> Iterator[None]:
    """Raise KeyboardInterrupt in the place of any error of the block after a Ctrl-C.

    Where Ctrl-C does something else than to raise it, as in a run that finishes what is in flight, nothing changes; nor
    does it under `nohup`, or in another thread.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or not _is_main_thread():
        yield
        return
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        # Else a run has begun, which finishes what is in flight; or the viewer closes here what it opened elsewhere.
        if signal.getsignal(signal.SIGINT) is note and _is_main_thread():
            signal.signal(signal.SIGINT, before)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
