"""Brings the judges what is to be judged: responses as they come in, and between them what earlier runs left."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Iterable
from itertools import chain

from keval.preparation.jobs import Job

ROOM = 64
"""Jobs of new responses that wait at once; whoever brings more is held up, so that memory stays bounded."""


class JobFeed:
    """Jobs for the judges, until it is closed and the backlog is done."""

    def __init__(self, backlog: Iterable[Job] = ()) -> None:
        self._backlog = iter(backlog)
        self._new: deque[Job] = deque()
        self._takers: deque[asyncio.Future[Job | None]] = deque()
        """Those who wait for a job; there is none then."""
        self._bringers: deque[asyncio.Future[None]] = deque()
        """Those who wait for room."""
        self._closed = asyncio.Event()
        self._is_drained = False

    def put(self, jobs: Iterable[Job]) -> Awaitable[None] | None:
        """Bring the jobs of a new response; where there is no room for all, return what brings the others."""
        bringing = iter(jobs)
        for job in bringing:
            if self._is_full():
                return self._put(chain([job], bringing))
            self._bring(job)
        return None

    async def _put(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            while self._is_full():
                room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._bringers.append(room)
                await room
            self._bring(job)
            # A job that went to somebody who waited for it has taken no room: the next one may come, too.
            if not self._is_full():
                self._make_room()

    def _is_full(self) -> bool:
        return len(self._new) >= ROOM and not self._is_drained

    def _bring(self, job: Job) -> None:
        """Hand a job to the one who has waited longest, or let it wait."""
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():  # else it was cancelled
                taker.set_result(job)
                return
        if not self._is_drained:
            self._new.append(job)

    def close(self) -> None:
        """Say that no more responses come."""
        self._closed.set()
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)

    async def take(self) -> Job | None:
        """Return the next job, None when there will be no more.

        New ones come first; the backlog is taken from one by one, when no new one waits.
        """
        if self._new:
            job = self._new.popleft()
            self._make_room()
            return job
        left = next(self._backlog, None)
        if left is not None or self._closed.is_set():
            return left
        turn: asyncio.Future[Job | None] = asyncio.get_running_loop().create_future()
        self._takers.append(turn)
        return await turn

    def _make_room(self) -> None:
        """Let one who waits for room go on."""
        while self._bringers:
            room = self._bringers.popleft()
            if not room.done():
                room.set_result(None)
                return

    async def drain(self) -> None:
        """Discard the jobs that were not taken, until the feed is closed, so that nobody waits to bring one."""
        self._is_drained = True
        self._new.clear()
        while self._bringers:
            self._make_room()
        await self._closed.wait()
