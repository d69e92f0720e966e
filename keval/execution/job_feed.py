"""Brings the judges what is to be judged: responses as they come in, and between them what earlier runs left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from keval.execution.jobs import Job

ROOM = 64
"""Jobs of new responses that wait at once; whoever brings more is held up, so that memory stays bounded."""


class JobFeed:
    """Jobs for the judges, until it is closed and the backlog is done."""

    def __init__(self, backlog: Iterable[Job] = ()) -> None:
        self._backlog = iter(backlog)
        self._new: asyncio.Queue[Job | None] = asyncio.Queue(ROOM)
        self._closed = False

    async def put(self, job: Job) -> None:
        """Bring a job of a new response."""
        await self._new.put(job)

    async def close(self) -> None:
        """Say that no more responses come."""
        await self._new.put(None)

    async def jobs(self) -> AsyncIterator[Job]:
        """Yield all jobs, new ones first; the backlog is taken from one by one, when no new one waits."""
        while not self._closed:
            left = next(self._backlog, None) if self._new.empty() else None
            job = left or await self._new.get()
            if job is None:
                self._closed = True
            else:
                yield job
        for left in self._backlog:
            yield left

    async def drain(self) -> None:
        """Discard the jobs that were not taken, until the feed is closed, so that nobody waits to bring one."""
        while not self._closed:
            self._closed = await self._new.get() is None
