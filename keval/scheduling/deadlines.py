"""Ends what takes too long, with one timer for all that runs at once.

`asyncio.timeout` makes and cancels a timer for each task. Nearly all tasks end in time, so it is enough to look at all
of them when the time of the first one might be over.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class Deadlines:
    """The deadlines of the tasks that run at once, by the clock of the event loop."""

    def __init__(self) -> None:
        self._running: set[Deadline] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looks_at_s = 0.0
        """When the timer of the loop looks at those that run; 0 without a timer."""

    def until(self, at_s: float) -> Deadline:
        """Return a deadline for the running task, to be entered."""
        return Deadline(self, at_s)

    def begin(self, deadline: Deadline) -> None:
        """Take note of one who begins."""
        self._running.add(deadline)
        loop = asyncio.get_running_loop()
        if loop is not self._loop or not self._looks_at_s or deadline.at_s < self._looks_at_s:
            self._look_at(loop, deadline.at_s)

    def end(self, deadline: Deadline) -> None:
        """Forget one who has ended."""
        self._running.discard(deadline)

    def _look_at(self, loop: asyncio.AbstractEventLoop, at_s: float) -> None:
        self._loop, self._looks_at_s = loop, at_s
        loop.call_at(at_s, self._look, at_s)

    def _look(self, planned_s: float) -> None:
        """Cancel those whose time is over, and look again when the next one's is."""
        loop = asyncio.get_running_loop()
        for deadline in self._running:
            if deadline.at_s <= planned_s:
                deadline.pass_by()
        left = [deadline.at_s for deadline in self._running if not deadline.has_passed]
        if planned_s == self._looks_at_s:  # else somebody with less time came, and there is another timer
            self._looks_at_s = 0.0
            if left:
                self._look_at(loop, min(left))


class Deadline:
    """When one task has to be done; whoever has entered it is cancelled then, and TimeoutError is raised at its end."""

    __slots__ = ("_cancelling", "_deadlines", "_task", "at_s", "has_passed")

    def __init__(self, deadlines: Deadlines, at_s: float) -> None:
        self.at_s = at_s
        """May be put off while the task runs."""
        self.has_passed = False
        self._deadlines = deadlines
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0

    def pass_by(self) -> None:
        """Cancel the task."""
        if self._task is not None and not self.has_passed:
            self.has_passed = True
            self._task.cancel()

    def __enter__(self) -> Self:
        task = self._task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline is for a task of the event loop")
        self._cancelling = task.cancelling()
        self._deadlines.begin(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._deadlines.end(self)
        task = self._task
        if not self.has_passed or task is None:
            return
        # Whoever else cancelled the task meanwhile is heard: as in `asyncio.timeout`.
        if task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
