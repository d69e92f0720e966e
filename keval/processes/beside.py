"""Runs a function in another thread meanwhile.

No `concurrent.futures`: a Ctrl-C that comes while one waits for a future may leave a lock of it held, on which the
other thread then waits for ever, or released, on which it fails. A `SimpleQueue` can be waited for at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


class Beside:
    """A function that runs in a thread of its own; the thread keeps no process from ending."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._raised: BaseException | None = None
        self._is_done = False
        self._done: SimpleQueue[None] = SimpleQueue()
        Thread(target=self._run, daemon=True).start()

    def end(self) -> BaseException | None:
        """Wait until the function is done, and return what it raised; also again, after a wait that was broken off."""
        if not self._is_done:
            self._done.get()
        return self._raised

    def _run(self) -> None:
        try:
            self._function()
        except BaseException as error:  # noqa: BLE001 - whoever waits for the end gets it
            self._raised = error
        self._is_done = True
        self._done.put(None)
