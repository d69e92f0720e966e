"""Where events go: to a log, or to stdout; with what has to be said before the first of them."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol, Self

from keval.errors import InterruptError
from keval.events import encode
from keval.ids import JsonObject
from keval.logs.standard_streams import unwritable

if TYPE_CHECKING:
    import asyncio

GRACE_S = 1.0
"""How long the reader of a pipe may take nothing of what is left when the user wants to stop."""

PIECE = 4096
"""Bytes that are written into a pipe at once."""

UntilSafe = Awaitable[None] | None
"""What is to be waited for until a line that is written is safe, also from an end of the machine; None: it is."""


class Sink(Protocol):
    """Where events go: a log or stdout."""

    async def append(self, event: JsonObject) -> None:
        """Write one event; it is safe when this returns."""

    def write(self, line: bytes) -> Awaitable[UntilSafe]:
        """Write the line of one event, which was checked when it was encoded: then it survives the process."""

    def tell(self, stop: asyncio.Event) -> None:
        """Name what is to be set when nothing more can be written here, although nobody is told by an error."""


class Announced:
    """A sink that writes events about a command before the command's first event, and nothing if there is none."""

    def __init__(self, sink: Sink, *announcement: JsonObject) -> None:
        import asyncio

        self._sink = sink
        self._announcement = list(announcement)
        self._announcing = asyncio.Lock()

    async def announce(self) -> None:
        """Write what is to be announced, if it is not written yet."""
        if not self._announcement:
            return
        async with self._announcing:
            while self._announcement:
                await self._sink.append(self._announcement[0])
                del self._announcement[0]

    def tell(self, stop: asyncio.Event) -> None:
        """As the sink's own."""
        self._sink.tell(stop)

    async def append(self, event: JsonObject) -> None:
        """Write one event, after what is to be announced."""
        await self.announce()
        await self._sink.append(event)

    def write(self, line: bytes) -> Awaitable[UntilSafe]:
        """Write the line of one event, after what is to be announced."""
        return self._write_after(line) if self._announcement else self._sink.write(line)

    async def _write_after(self, line: bytes) -> UntilSafe:
        await self.announce()
        return await self._sink.write(line)


class Stdout:
    """Writes event lines to stdout, whole and in order, without blocking the event loop.

    A reader who leaves becomes ReaderGoneError. At the end the bytes are on disk if stdout is a file. After an
    interruption nobody waits for a reader that takes nothing any more: what is left for it is not written.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._descriptor = sys.stdout.fileno() if descriptor is None else descriptor
        self._is_file = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        self._taken = 0
        """Bytes that a reader, or a file, has taken."""
        # One thread: a full pipe holds up this writer, not the tasks in flight.
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keval-stdout")

    async def append(self, event: JsonObject) -> None:
        """Write one event."""
        await self.write(encode(event))

    async def write(self, line: bytes) -> None:
        """Write one line, unchanged."""
        import asyncio

        await asyncio.get_running_loop().run_in_executor(self._writer, self._write, line)

    def tell(self, stop: asyncio.Event) -> None:
        """Do nothing: who leaves a pipe is an error of the next write."""

    def _write(self, line: bytes) -> None:
        view = memoryview(line)
        try:
            while view:
                # Into a pipe little by little, which shows whether its reader still reads; a file gets whole lines.
                written = os.write(self._descriptor, view if self._is_file else view[:PIECE])
                self._taken += written
                view = view[written:]
        except OSError as error:
            raise unwritable(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> None:
        is_stopped = isinstance(raised, InterruptError | KeyboardInterrupt)
        if is_stopped and not self._is_file and not self._is_read_to_the_end():
            self._writer.shutdown(wait=False, cancel_futures=True)
            return
        self._writer.shutdown()
        if self._is_file:
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise unwritable(error) from error

    def _is_read_to_the_end(self) -> bool:
        """Wait for what is left, as long as a reader takes of it; return whether it has taken all."""
        rest, before = self._writer.submit(lambda: None), -1
        while self._taken > before:
            before = self._taken
            try:
                rest.result(GRACE_S)
            except TimeoutError:
                continue
            return True
        return False
