r"""Reads event lines from files and pipes.

Only `\n` ends a line. Every line read is checked against its schema; a line that is not what it
says it is stops the command with file, line and path, unless the reader was told to skip such
lines, in which case it counts and names them.
"""

from __future__ import annotations

import io
import sys
from array import array
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from keval import schema
from keval.documents import packed, strict_json
from keval.documents.event_lines import accepted, stand_as_written
from keval.errors import InputError, Warn
from keval.ids import JsonObject
from keval.logs import foreign
from keval.logs.addresses import name_of
from keval.logs.endable_input import EndableInput

CHUNK = 2**16
"""Bytes that are read from a file at once, unless a line is longer; they and what is made of them fit into a cache."""

ONE_BY_ONE = 5_000
"""Lines that are parsed one by one before anything faster is made ready, which takes as long as it saves on so many."""

MOST_UNLIKE = 8
"""Chunks in a row with lines that keval writes in another way; the rest of the log is then looked at line by line."""

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


@dataclass(frozen=True, slots=True)
class Stretch:
    """Valid lines that follow each other in a stream without anything between them."""

    offset: int
    """Where the first one begins, in bytes."""
    raw: bytes
    """The bytes of all, each line with its `\\n`; the last one of a stream got one if it had none."""
    lengths: array[int]
    """The bytes of each, its `\\n` included."""


@dataclass
class Reader:
    """Reads the events of one stream in order.

    `name` is what messages call the stream; `warn` is told about skipped and torn lines.
    """

    source: BinaryIO
    name: str
    warn: Warn
    skip_invalid: bool = False
    chunk: int = CHUNK
    """Bytes that `stretches` reads at once."""
    one_by_one: int = ONE_BY_ONE
    """Lines that `stretches` parses one by one before it goes faster."""
    head: bytes = b""
    """How the stream begins, if it could be looked at: what it is if it is no log."""
    skipped: int = field(default=0, init=False)
    torn: bool = field(default=False, init=False)
    """Whether the stream ended in the middle of a line."""
    _unlike: int = field(default=0, init=False)
    """How many chunks in a row did not stand as keval writes them."""

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

    def stretches(self, offset: int = 0, number: int = 1) -> Iterator[Stretch]:
        """Yield the valid lines, many at once: several times faster than one by one, and as strict.

        `offset` is where the stream stands, in bytes, and `number` that of the line there. Raises InputError, perhaps
        before the last valid lines were yielded.
        """
        for chunk in self._chunks():
            lengths = array("Q", map(len, io.BytesIO(chunk)))  # three times as fast as to split it
            if self._stands_as_written(chunk):
                yield Stretch(offset, chunk, lengths)
            else:
                yield from self._stretches_of(chunk, offset, number)
            offset += len(chunk)
            number += len(lengths)
            self.one_by_one -= len(lengths)

    def _stands_as_written(self, chunk: bytes) -> bool:
        """Return whether all lines of a chunk are valid and stand as keval writes them; others may be valid, too."""
        if self.one_by_one > 0 or self._unlike >= MOST_UNLIKE:
            return False
        alike = stand_as_written(chunk)
        self._unlike = 0 if alike else self._unlike + 1
        return alike

    def _stretches_of(self, chunk: bytes, offset: int, number: int) -> Iterator[Stretch]:
        """Yield the valid lines of a chunk, the last of which may have no newline."""
        *lines, unended = chunk.split(b"\n")
        begin = end = first = 0
        lengths = array("Q")
        while first < len(lines):
            unknown = first if self.one_by_one > 0 else accepted(lines, first)
            sizes = [len(line) + 1 for line in lines[first:unknown]]
            lengths.extend(sizes)
            end += sum(sizes)
            if unknown < len(lines):
                raw = lines[unknown] + b"\n"
                if self.parse(number + unknown, raw, offset + end) is not None:
                    lengths.append(len(raw))
                else:
                    if lengths:
                        yield Stretch(offset + begin, chunk[begin:end], lengths)
                    begin, lengths = end + len(raw), array("Q")
                end += len(raw)
            first = unknown + 1
        if lengths:
            yield Stretch(offset + begin, chunk[begin:end], lengths)
        if unended and (line := self.parse(number + len(lines), unended, offset + end)) is not None:
            yield Stretch(line.offset, line.raw, array("Q", [len(line.raw)]))

    def _chunks(self) -> Iterator[bytes]:
        """Yield the rest of the stream in pieces that end where a line ends, the last one where the stream ends."""
        begun: list[bytes] = []  # of the last line, whose end has not come yet
        try:
            while chunk := self.source.read(self.chunk):
                end = chunk.rfind(b"\n") + 1
                if end:
                    yield b"".join([*begun, chunk[:end]])
                    begun = [chunk[end:]] if end < len(chunk) else []
                else:
                    begun.append(chunk)
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror}") from error
        if begun:
            yield b"".join(begun)

    def parse(self, number: int, raw: bytes, offset: int = 0) -> Line | None:
        """Return the line, or None if it is blank, torn or skipped. Raises InputError."""
        if not raw.strip():
            return None
        try:
            event = strict_json.parse(raw)
            problem = schema.event_problem(event)
        except strict_json.NotJsonError as error:
            if not raw.endswith(b"\n") and self._other(number, raw) is None:
                self.torn = True
                self.warn(f"{self.name}:{number}: the last line is cut off and was left out")
                return None
            problem = str(error)
        except strict_json.NotStrictError as error:
            problem = str(error)
        if problem is None:
            return Line(number, raw if raw.endswith(b"\n") else raw + b"\n", event, offset)
        if not self.skip_invalid:
            other = self._other(number, raw)
            if other is not None:
                raise InputError(f"{self.name} is not a keval log: {other}")
            raise InputError(f"{self.name}:{number}: {problem} (--skip-invalid leaves such lines out)")
        self.skipped += 1
        self.warn(f"{self.name}:{number}: skipped: {problem}")
        return None

    def _other(self, number: int, raw: bytes) -> str | None:
        """Return what a stream is whose first line is no event, or None if it is a log with a mistake."""
        if number > 1 or self.skip_invalid:
            return None
        return foreign.instead_of_log(self.head or raw[: foreign.PEEKED_BYTES])


def count_events(reader: Reader) -> int:
    """Read a stream to its end and return how many valid events it holds."""
    return sum(len(stretch.lengths) for stretch in reader.stretches())


@contextmanager
def log_reader(path: Path, warn: Warn, *, skip_invalid: bool = False) -> Iterator[Reader]:
    """Open a log file for reading, packed or not. Raises InputError."""
    try:
        source = packed.opened(path)
    except OSError as error:
        raise InputError(f"{name_of(path)}: {error.strerror}") from error
    with source:
        head = _head(source, path)
        if foreign.kind(head) is not None:
            raise InputError(f"{name_of(path)} is not a keval log: {foreign.instead_of_log(head)}")
        yield Reader(source, name_of(path), warn, skip_invalid, head=head)


def _head(source: BinaryIO, path: Path) -> bytes:
    """Return how a file begins; of a pipe nothing is taken away. Raises InputError."""
    try:
        head = source.peek(foreign.PEEKED_BYTES) if isinstance(source, io.BufferedReader) else b""
    except OSError as error:
        raise InputError(f"{name_of(path)}: {error.strerror}") from error
    return head[: foreign.PEEKED_BYTES]


def read(path: Path, warn: Warn, *, skip_invalid: bool = False) -> Iterator[Line]:
    """Yield the events of a log file. Raises InputError."""
    with log_reader(path, warn, skip_invalid=skip_invalid) as reader:
        yield from reader


def standard_input(warn: Warn, *, skip_invalid: bool = False) -> Reader:
    """Return a reader of stdin. Raises InputError when the process has none."""
    if sys.stdin is None:
        raise InputError("stdin is closed; name a LOG, or pipe one in")
    return Reader(sys.stdin.buffer, "stdin", warn, skip_invalid)


async def read_live(reader: Reader) -> AsyncIterator[Line]:
    """Yield the events of a pipe as they come in; a thread waits for them, not the event loop.

    When this is cancelled, it ends at once, however long the pipe is silent.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

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
