"""Hands out tasks sample by sample, and no further ahead of the finished ones than what is in flight may cost.

When a run is decided, at most as many samples were begun in vain as there are workers.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from keval.execution.finished_samples import FinishedSamples, TaskPlace
from keval.preparation.tasks import Task, TaskList
from keval.scheduling.backoff import any_set


class SampleFeed:
    """The tasks that remain, until all is decided or `stop` is set."""

    def __init__(self, tasks: TaskList, finished: FinishedSamples, ahead: int, stop: asyncio.Event) -> None:
        """Begin at the first task; samples are begun as long as fewer than `ahead` are open."""
        self._tasks = zip((cell.sample for cell in tasks.cells()), tasks, strict=True)
        self._next: tuple[int, Task] | None = None
        self._finished = finished
        self._ahead = ahead
        self._stop = stop
        self._moved = asyncio.Event()
        self.taken: Counter[str] = Counter()
        """Tasks that were handed out, by the id of their condition."""

    def moved(self) -> None:
        """Let those who wait look again: samples were finished."""
        self._moved.set()

    async def take(self) -> Task | None:
        """Return the next task as soon as it may be begun; None when there will be no more."""
        while not self._stop.is_set():
            found = self._peek()
            if found is None:
                return None
            position, task = found
            if position < self._finished.n + self._ahead:
                self._next = None
                self._finished.open(_place(position, task), task.response_id)
                self.taken[task.condition_id] += 1
                return task
            self._moved.clear()
            await any_set(self._moved, self._stop)  # a sample is finished, or it is enough
        return None

    def _peek(self) -> tuple[int, Task] | None:
        """Return the next task that is still wanted, and where its sample stands."""
        while True:
            if self._finished.is_decided:
                return None
            self._next = self._next or next(self._tasks, None)
            if self._next is None or self._finished.wants(self._next[1].condition_id):
                return self._next
            self._next = None


def _place(position: int, task: Task) -> TaskPlace:
    return TaskPlace(position, str(task.sample["id"]), task.condition_id, task.repetition)
