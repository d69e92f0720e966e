"""Says whether a file still begins with the bytes that were read of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import xxhash

CHUNK = 2**18
"""Bytes that are read at once to be hashed: they stay in a cache, and in one place of memory."""

SEGMENT = 2**25
"""Bytes that are hashed apart from the others, so that several cores can hash a file."""

MOST_THREADS = 4
"""More of them only wait for memory."""

SETTLED_NS = 50_000_000
"""So long after its last change another change of a file has another time: clocks of file systems tick every 10 ms."""

SECOND_NS = 1_000_000_000
SETTLED_SECONDS_NS = 3 * SECOND_NS
"""The same for file systems that count seconds, or every other one."""


Status = list[int]
"""What the file system says of a file: device, inode, size, times. Any write changes one of them."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The beginning of a file, as it was read."""

    size: int
    """How many bytes were read."""
    digest: str
    """Their hash, as `Digest` gives it."""
    status: Status | None
    """The file's status before it was read; None where the next write might have left it as it was."""


class Digest:
    """The hash of bytes that come in one after the other: XXH3, which reads as fast as memory does.

    It is the hash of the hashes of all segments. It shows that a file was edited; it does not withstand somebody who
    looks for other bytes with the same hash.
    """

    def __init__(self) -> None:
        self._segments = xxhash.xxh3_128()
        self._begun = xxhash.xxh3_128()
        self._missing = SEGMENT
        """Bytes that the segment that was begun still lacks."""

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        while len(data) >= self._missing:
            self._begun.update(data[: self._missing])
            data = data[self._missing :]
            self.add_segment(self._begun.digest())
        self._begun.update(data)
        self._missing -= len(data)

    def add_segment(self, digest: bytes) -> None:
        """Add the hash of a segment that begins where the last one ends."""
        self._segments.update(digest)
        self._begun = xxhash.xxh3_128()
        self._missing = SEGMENT

    def __str__(self) -> str:
        whole = self._segments.copy()
        whole.update(self._begun.digest())
        return str(whole.hexdigest())


def status(descriptor: int) -> Status | None:
    """Return the status of an open file, None if it was changed in this moment."""
    found = os.fstat(descriptor)
    settled = SETTLED_NS if found.st_ctime_ns % SECOND_NS else SETTLED_SECONDS_NS
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < settled:
        return None
    return [found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns, found.st_mtime_ns]


def still_begins(descriptor: int, known: Fingerprint) -> bool:
    """Return whether an open file still begins with what was read of it; it is read for that if its status changed."""
    if known.status is not None and status(descriptor) == known.status:
        return True
    if os.fstat(descriptor).st_size < known.size:
        return False
    return str(digest_of(descriptor, known.size)) == known.digest


def digest_of(descriptor: int, end: int, start: int = 0, before: Digest | None = None) -> Digest:
    """Return the hash of a part of an open file, or go on with the hash of what is `before` it."""
    digest = before or Digest()
    if before is None and end - start > SEGMENT:
        begins = range(start, end - SEGMENT, SEGMENT)
        with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as threads:
            for segment in threads.map(lambda begin: _of_segment(descriptor, begin), begins):
                digest.add_segment(segment)
        start = begins[-1] + SEGMENT
    for read in _read(descriptor, start, end):
        digest.add(read)
    return digest


def _of_segment(descriptor: int, begin: int) -> bytes:
    segment = xxhash.xxh3_128()
    for read in _read(descriptor, begin, begin + SEGMENT):
        segment.update(read)
    return bytes(segment.digest())


def _read(descriptor: int, start: int, end: int) -> Iterator[memoryview]:
    """Yield the bytes of a part of an open file; each piece is gone when the next one is read."""
    chunk = memoryview(bytearray(CHUNK))
    while start < end and (read := os.preadv(descriptor, [chunk[: end - start]], start)):
        yield chunk[:read]
        start += read
