r"""Reads event lines from files and pipes, and writes them to stdout.

Only `\n` ends a line. Every line read is checked against its schema; a line that is not what it
says it is stops the command with file, line and path, unless the reader was told to skip such
lines, in which case it counts and names them.
"""

from __future__ import annotations

import asyncio
import io
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Protocol

from keval import schema
from keval.documents import strict_json
from keval.errors import InputError
from keval.events import encode
from keval.ids import JsonObject
from keval.logs.endable_input import EndableInput
from keval.logs.standard_streams import unwritable

MOST_AT_ONCE = 2**16
"""Bytes that are read from a live pipe at once, which is what a pipe holds."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event as it was read."""

    number: int
    """1-based, counted in `\\n`."""
    raw: bytes
    """The line's bytes with its `\\n`: what is passed on is what came in."""
    event: JsonObject
    offset: int = 0
    """Where the line begins, in bytes."""


@dataclass
class Reader:
    """Reads the events of one stream in order.

    `name` is what messages call the stream; `warn` is told about skipped and torn lines.
    """

    source: BinaryIO
    name: str
    warn: Callable[[str], None]
    skip_invalid: bool = False
    skipped: int = field(default=0, init=False)
    torn: bool = field(default=False, init=False)
    """Whether the stream ended in the middle of a line."""

    def __iter__(self) -> Iterator[Line]:
        offset = 0
        try:
            for number, raw in enumerate(self.source, start=1):
                line = self.parse(number, raw, offset)
                offset += len(raw)
                if line is not None:
                    yield line
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror}") from error

    def parse(self, number: int, raw: bytes, offset: int = 0) -> Line | None:
        """Return the line, or None if it is blank, torn or skipped. Raises InputError."""
        if not raw.strip():
            return None
        try:
            event = strict_json.parse(raw)
            problem = schema.event_problem(event)
        except strict_json.NotJsonError as error:
            if not raw.endswith(b"\n"):
                self.torn = True
                self.warn(f"{self.name}:{number}: the last line is cut off and was left out")
                return None
            problem = str(error)
        except strict_json.NotStrictError as error:
            problem = str(error)
        if problem is None:
            return Line(number, raw if raw.endswith(b"\n") else raw + b"\n", event, offset)
        if not self.skip_invalid:
            raise InputError(f"{self.name}:{number}: {problem} (--skip-invalid leaves such lines out)")
        self.skipped += 1
        self.warn(f"{self.name}:{number}: skipped: {problem}")
        return None


def count_events(reader: Reader) -> int:
    """Read a stream to its end and return how many valid events it holds."""
    return sum(1 for _ in reader)


@contextmanager
def opened(path: Path, warn: Callable[[str], None], *, skip_invalid: bool = False) -> Iterator[Reader]:
    """Open a log file for reading. Raises InputError."""
    try:
        source = path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    with source:
        yield Reader(source, str(path), warn, skip_invalid)


def read(path: Path, warn: Callable[[str], None], *, skip_invalid: bool = False) -> Iterator[Line]:
    """Yield the events of a log file. Raises InputError."""
    with opened(path, warn, skip_invalid=skip_invalid) as reader:
        yield from reader


def standard_input(warn: Callable[[str], None], *, skip_invalid: bool = False) -> Reader:
    """Return a reader of stdin. Raises InputError when the process has none."""
    if sys.stdin is None:
        raise InputError("stdin is closed; name a LOG, or pipe one in")
    return Reader(sys.stdin.buffer, "stdin", warn, skip_invalid)


async def read_live(reader: Reader) -> AsyncIterator[Line]:
    """Yield the events of a pipe as they come in; a thread waits for them, not the event loop.

    When this is cancelled, it ends at once, however long the pipe is silent.
    """
    loop = asyncio.get_running_loop()
    with (
        EndableInput(reader.source.fileno()) as source,
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="keval-stdin") as thread,
    ):
        lines = iter(replace(reader, source=io.BufferedReader(source, MOST_AT_ONCE)))
        try:
            while (line := await loop.run_in_executor(thread, next, lines, None)) is not None:
                yield line
        finally:
            source.end()


class Sink(Protocol):
    """Where events go: a log or stdout."""

    async def append(self, event: JsonObject) -> None:
        """Write one event; it is safe when this returns."""

    async def write(self, line: bytes) -> None:
        """Write the line of one event, which was checked when it was encoded; it is safe when this returns."""

    def tell(self, stop: asyncio.Event) -> None:
        """Name what is to be set when nothing more can be written here, although nobody is told by an error."""


class Announced:
    """A sink that writes events about a command before the command's first event, and nothing if there is none."""

    def __init__(self, sink: Sink, *announcement: JsonObject) -> None:
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

    async def write(self, line: bytes) -> None:
        """Write the line of one event, after what is to be announced."""
        await self.announce()
        await self._sink.write(line)


class Stdout:
    """Writes event lines to stdout, whole and in order, without blocking the event loop.

    A reader who leaves becomes ReaderGoneError. At close the bytes are on disk if stdout is a file.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdout.fileno() if descriptor is None else descriptor
        # One thread: a full pipe holds up this writer, not the tasks in flight.
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keval-stdout")

    async def append(self, event: JsonObject) -> None:
        """Write one event."""
        await self.write(encode(event))

    async def write(self, line: bytes) -> None:
        """Write one line, unchanged."""
        await asyncio.get_running_loop().run_in_executor(self._writer, self._write, line)

    def tell(self, stop: asyncio.Event) -> None:
        """Do nothing: who leaves a pipe is an error of the next write."""

    def _write(self, line: bytes) -> None:
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            raise unwritable(error) from error

    def close(self) -> None:
        """Wait for the last write."""
        self._writer.shutdown()
        if stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise unwritable(error) from error
