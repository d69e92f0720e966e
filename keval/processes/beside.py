"""Runs a function in another thread meanwhile.

No `concurrent.futures`: a Ctrl-C that comes while one waits for a future may leave a lock of it held, on which the
other thread then waits for ever, or released, on which it fails. A `SimpleQueue` can be waited for at any time.
"""

from __future__ import annotations

from _thread import start_new_thread  # not `Thread`: to start it waits at a lock, which the same may happen to
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")

SLICE_S = 0.5
"""A Ctrl-C that comes just before one waits is seen after so long; while one waits, at once."""


class Beside:
    """A function that runs in a thread of its own once it is begun; the thread keeps no process from ending."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._raised: BaseException | None = None
        self._is_done = True
        self._done: SimpleQueue[None] = SimpleQueue()

    def begin(self) -> None:
        """Begin to run; within the block at whose end it is waited for, as an interruption may come at once."""
        self._is_done = False
        try:
            start_new_thread(self._run, ())
        except RuntimeError:  # there is no thread to be had
            self._is_done = True
            raise

    def end(self) -> BaseException | None:
        """Wait until the function is done, and return what it raised; at once if it never began, or was done before."""
        if not self._is_done:
            taken(self._done)
        return self._raised

    def _run(self) -> None:
        try:
            self._function()
        except BaseException as error:  # noqa: BLE001 - whoever waits for the end gets it
            self._raised = error
        self._is_done = True
        self._done.put(None)


def taken(queue: SimpleQueue[Item]) -> Item:
    """Wait for what is put into a queue next."""
    while True:
        try:
            return queue.get(timeout=SLICE_S)
        except Empty:
            continue
