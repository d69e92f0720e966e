"""Appends events to a log file so that none is ever lost, torn or written twice at once.

* A line is written by one `write` on an append-mode descriptor while an advisory lock is held,
  so `generate` and `judge` can write to one log at the same time.
* `append` returns when the line is on disk. Lines that arrive while an fsync runs share the next
  one, so that the wait is one fsync and the cost of it is shared.
* Complete lines are never changed. What a crash cut off in mid-write is moved to `<log>.torn`.
* A lease per stage: the second `generate` on one log is refused with the pid of the first.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import orjson

from keval import schema
from keval.errors import EnvironmentLacksError, UsageError
from keval.events import encode
from keval.ids import JsonObject

# macOS has no fdatasync; what it saves is only the write of the file's times.
_sync = getattr(os, "fdatasync", os.fsync)


class Log:
    """An open log that events are appended to; use `open_log`."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path = path
        self._warn = warn
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._end = -1
        self._written = 0
        self._synced = 0
        self._sync_task: asyncio.Task[None] | None = None
        with self._lock():
            self._mend()

    async def append(self, event: JsonObject) -> None:
        """Append one event; it is on disk when this returns.

        Raises EnvironmentLacksError when the disk is full or broken; the log then ends where it
        ended before.
        """
        self._write(encode(event))
        mine = self._written
        while self._synced < mine:
            if self._sync_task is None:
                self._sync_task = asyncio.create_task(self._sync())
            # Shielded: whoever stops waiting must not take the fsync from the others.
            await asyncio.shield(self._sync_task)

    def _write(self, line: bytes) -> None:
        with self._lock():
            size = os.fstat(self._descriptor).st_size
            if size != self._end:
                size = self._mend()
            try:
                written = os.write(self._descriptor, line)
            except OSError as error:
                raise self._unwritable(error.strerror or str(error)) from error
            if written != len(line):
                os.ftruncate(self._descriptor, size)
                raise self._unwritable("no space left on the device")
            self._end = size + written
        self._written += 1

    async def _sync(self) -> None:
        written = self._written
        try:
            await asyncio.get_running_loop().run_in_executor(None, _sync, self._descriptor)
        except OSError as error:
            raise self._unwritable(error.strerror or str(error)) from error
        finally:
            self._sync_task = None
        self._synced = written

    def _unwritable(self, reason: str) -> EnvironmentLacksError:
        return EnvironmentLacksError(
            f"{self.path}: {reason}; the log ends with its last whole line: mend that and run the same command again"
        )

    def _mend(self) -> int:
        """Set a cut-off last line aside and return the size; called under the lock, so nobody is in mid-write."""
        size = os.fstat(self._descriptor).st_size
        tail = b"" if size == 0 or os.pread(self._descriptor, 1, size - 1) == b"\n" else self._tail(size)
        if tail and _is_event(tail):
            # Only its newline is missing: completing it loses nothing that was paid for.
            os.write(self._descriptor, b"\n")
            size += 1
        elif tail:
            torn = self.path.with_name(self.path.name + ".torn")
            with torn.open("ab") as aside:
                aside.write(tail + b"\n")
                aside.flush()
                os.fsync(aside.fileno())
            size -= len(tail)
            os.ftruncate(self._descriptor, size)
            self._warn(f"{self.path}: the last line was cut off in mid-write; its {len(tail)} bytes are now in {torn}")
        self._end = size
        return size

    def _tail(self, size: int) -> bytes:
        tail = b""
        while len(tail) < size and b"\n" not in tail:
            start = max(0, size - len(tail) - 65536)
            tail = os.pread(self._descriptor, size - len(tail) - start, start) + tail
        return tail.rpartition(b"\n")[2]

    @contextmanager
    def _lock(self) -> Iterator[None]:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Put everything on disk and close the file."""
        os.fsync(self._descriptor)
        os.close(self._descriptor)


def _is_event(tail: bytes) -> bool:
    try:
        return schema.event_problem(orjson.loads(tail)) is None
    except orjson.JSONDecodeError:
        return False


@contextmanager
def open_log(path: Path, stages: tuple[str, ...], warn: Callable[[str], None]) -> Iterator[Log]:
    """Open a log for appending, as the only writer of each of the stages (`generate`, `judge`).

    Raises UsageError when another process holds a stage or the path is no regular file,
    EnvironmentLacksError when the file cannot be opened.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file that can be appended to; without -o events go to stdout")
    with ExitStack() as stack:
        try:
            for stage in stages:
                stack.enter_context(_lease(path, stage))
            log = Log(path, warn)
        except OSError as error:
            raise EnvironmentLacksError(f"{error.filename or path}: {error.strerror}") from error
        stack.callback(log.close)
        yield log


@contextmanager
def _lease(path: Path, stage: str) -> Iterator[None]:
    """Hold `.<log>.<stage>.lock` with our pid in it; the kernel lets go of it when the process dies."""
    lease = path.with_name(f".{path.name}.{stage}.lock")
    descriptor = _locked(lease, path, stage)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        # Removed while still locked, so whoever waits sees that the file it has open is gone.
        lease.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(lease: Path, path: Path, stage: str) -> int:
    while True:
        descriptor = os.open(lease, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(descriptor, 32, 0).decode().strip() or "unknown"
            os.close(descriptor)
            raise UsageError(f"{path}: keval {stage} is already writing to this log (pid {pid})") from None
        if lease.exists() and os.fstat(descriptor).st_ino == lease.stat().st_ino:
            return descriptor
        os.close(descriptor)
