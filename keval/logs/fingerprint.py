"""Says whether a file still begins with the bytes that were read of it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import xxhash

CHUNK = 2**18
"""Bytes that are read at once to be hashed: they stay in a cache, and in one place of memory."""

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

    It shows that a file was edited; it does not withstand somebody who looks for other bytes with the same hash.
    """

    def __init__(self) -> None:
        self._hash = xxhash.xxh3_128()

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        self._hash.update(data)

    def __str__(self) -> str:
        return str(self._hash.hexdigest())


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
    digest, chunk = before or Digest(), memoryview(bytearray(CHUNK))
    while start < end and (read := os.preadv(descriptor, [chunk[: end - start]], start)):
        digest.add(chunk[:read])
        start += read
    return digest
