"""Appends events to a log file so that none is ever lost, torn or written twice at once.

* A line is written by one `write` on an append-mode descriptor while an advisory lock is held,
  so `generate` and `judge` can write to one log at the same time.
* `append` returns when the line is on disk. Lines that arrive while an fsync runs share the next
  one, so that the wait is one fsync and the cost of it is shared.
* Complete lines are never changed. What a crash cut off in mid-write is moved to `<log>.torn`. A
  file that does not begin as a log is left as it is.
* A lease per stage: the second `generate` on one log is refused with the pid of the first.
* A log that is removed, moved, replaced or cut short while it is written to: what this command
  wrote, and what is in flight, goes to `<log>.rescued`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path

from keval import lease, schema, strict_json
from keval.errors import EnvironmentLacksError, InputError, KevalError, UsageError
from keval.events import encode
from keval.ids import JsonObject
from keval.outputs import begins_as_log, check_no_input, look

# macOS has no fdatasync; what it saves is only the write of the file's times.
_sync = getattr(os, "fdatasync", os.fsync)

MARK_BYTES = 256
"""How much of the last line that we wrote is looked at again: its type, id, time and run."""

REOPENINGS = 100
"""How often a log is opened again that is replaced in the very moment, before we give up."""


class Log:
    """An open log that events are appended to; use `open_log`."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path = path
        self._warn = warn
        self._file = _File(path, warn)
        self._rescue: _File | None = None
        self._lost: str | None = None
        self._stops: list[asyncio.Event] = []
        self._copy: FileIO | None = None
        self._keeps_copy = True
        self._written = 0
        self._synced = 0
        self._sync_task: asyncio.Task[None] | None = None

    def tell(self, stop: asyncio.Event) -> None:
        """Let `stop` be set as soon as the log is no longer where it was: what is paid now would be hard to find."""
        self._stops.append(stop)

    async def append(self, event: JsonObject) -> None:
        """Append one event; it is on disk when this returns. Raises EnvironmentLacksError."""
        await self.write(encode(event))

    async def write(self, line: bytes) -> None:
        """Append the line of one event; it is on disk when this returns.

        Raises EnvironmentLacksError when the disk is full or broken; the log then ends where it
        ended before.
        """
        self._write(line)
        mine = self._written
        while self._synced < mine:
            if self._sync_task is None:
                self._sync_task = asyncio.create_task(self._sync())
            # Shielded: whoever stops waiting must not take the fsync from the others.
            await asyncio.shield(self._sync_task)

    def _write(self, line: bytes) -> None:
        self._look()
        (self._rescue or self._file).write(line)
        self._written += 1
        if self._rescue is None:
            self._keep(line)

    async def _sync(self) -> None:
        written, file = self._written, self._rescue or self._file
        try:
            await asyncio.get_running_loop().run_in_executor(None, file.sync)
        finally:
            self._sync_task = None
        # Only now is it known that what is on disk is also where people will look for it.
        self._look()
        self._synced = max(written, self._synced)

    def _keep(self, line: bytes) -> None:
        """Keep a copy of a line until the log is closed: a log that is cut short leaves none."""
        if not self._keeps_copy:
            return
        try:
            if self._copy is None:
                self._copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the log
            whole = self._copy.write(line) == len(line)
            refused = None if whole else "no space left on the device"
        except OSError as error:
            refused = error.strerror
        if refused:
            self._keeps_copy = False
            self._warn(
                f"{self.path}: no room for a temporary copy of what is appended ({refused}): should another program cut"
                " the log short while this command writes to it, what stood there is lost; TMPDIR names another folder"
            )

    def _look(self) -> None:
        """Notice that the log is no longer what its path leads to, and put what was written to it beside."""
        if self._rescue is not None:
            return
        self._lost = self._lost or self._file.loss()
        if self._lost is None:
            return
        for stop in self._stops:
            stop.set()
        self._rescue = self._rescued()
        self._warn(
            f"{self.path} {self._lost} while it was written to; stopping: what is in flight will be finished"
            f" and goes to {self._rescue.path}"
        )

    def _rescued(self) -> _File:
        """Return the file beside the log with all that was written to the log in it."""
        rescue = _beside(self.path, self._warn)
        if self._copy is not None and self._keeps_copy:
            self._copy.seek(0)
            rescue.pour(self._copy)
        elif self._written:
            with self._file.since_opened() as lines:
                rescue.pour(lines)
        rescue.sync()
        self._synced = self._written
        return rescue

    @property
    def descriptor(self) -> int:
        """The open file that the log was when it was opened."""
        return self._file.descriptor

    @property
    def is_at_its_path(self) -> bool:
        """Whether the path leads to the open file."""
        return self._file.parting() is None

    def close(self) -> None:
        """Put everything on disk; `release` closes the file.

        Raises EnvironmentLacksError if what was written is not in the log but in the file beside it.
        """
        (self._rescue or self._file).sync()
        if self._written:
            self._look()
        if self._rescue is not None:
            raise EnvironmentLacksError(
                f"{self.path} {self._lost} while it was written to; the {self._written} events of this command are in"
                f" {self._rescue.path}. Put the log back if you can; then `cat {self._rescue.path} >> {self.path}` and"
                " the same command again, which does what is missing"
            )

    def release(self) -> None:
        """Close all files."""
        for opened in (self._file, self._rescue, self._copy):
            if opened is not None:
                opened.close()


class _File:
    """A file of events that is open for appending."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path = path
        self._warn = warn
        self.descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._end = -1
        self._start = 0
        self._mark = b""
        self._mark_at = 0
        try:
            with lease.writing(self.descriptor, self.path):
                self._check()
                self._start = self._mend()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Raise InputError for a file that is neither empty nor begins as a log: it is somebody's."""
        if os.fstat(self.descriptor).st_size and not begins_as_log(self.descriptor):
            raise InputError(
                f"{self.path} is not a keval log: it holds {look(self.descriptor)}; it is left as it is:"
                " name a log, or a file that is not there yet"
            )

    def write(self, line: bytes) -> None:
        """Append a line, whole or not at all. Raises EnvironmentLacksError."""
        with lease.writing(self.descriptor, self.path):
            size = os.fstat(self.descriptor).st_size
            if size > self._end:
                size = self._mend()
            try:
                written = os.write(self.descriptor, line)
            except OSError as error:
                raise self._unwritable(error.strerror or str(error)) from error
            if written != len(line):
                os.ftruncate(self.descriptor, size)
                raise self._unwritable("no space left on the device")
            if size >= self._end:  # else it was cut short in this moment: `loss` compares with what it was
                self._mark, self._mark_at, self._end = line[:MARK_BYTES], size, size + written

    def pour(self, lines: FileIO) -> None:
        """Append all lines of another file. Raises EnvironmentLacksError."""
        with lease.writing(self.descriptor, self.path):
            size = self._mend()
            try:
                with os.fdopen(os.dup(self.descriptor), "ab") as sink:
                    shutil.copyfileobj(lines, sink)
            except OSError as error:
                os.ftruncate(self.descriptor, size)
                raise self._unwritable(error.strerror or str(error)) from error
            self._end = os.fstat(self.descriptor).st_size

    @contextmanager
    def since_opened(self) -> Iterator[FileIO]:
        """Give what was appended by anybody since the file was opened, as far as it is still there."""
        with FileIO(os.dup(self.descriptor), "rb") as lines:
            lines.seek(self._start)
            yield lines

    def sync(self) -> None:
        """Put what was written on disk. Raises EnvironmentLacksError."""
        try:
            _sync(self.descriptor)
        except OSError as error:
            raise self._unwritable(error.strerror or str(error)) from error

    def parting(self) -> str | None:
        """Return what happened if the path no longer leads to the file that is open."""
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return "was removed or moved away"
        except OSError as error:
            return f"cannot be found any more ({error.strerror})"
        return None if os.path.samestat(found, os.fstat(self.descriptor)) else "was replaced by another file"

    def loss(self) -> str | None:
        """Return what happened to the file if it is no longer at its path, or no longer holds what was written."""
        parting = self.parting()
        if parting is not None:
            return parting
        if os.fstat(self.descriptor).st_size < self._end:
            return "was cut short"
        # Cut short and grown again, or saved from an editor: our last line is not where we wrote it.
        if os.pread(self.descriptor, len(self._mark), self._mark_at) != self._mark:
            return "was written over"
        return None

    def _unwritable(self, reason: str) -> EnvironmentLacksError:
        return EnvironmentLacksError(
            f"{self.path}: {reason}; the log ends with its last whole line: mend that and run the same command again"
        )

    def _mend(self) -> int:
        """Set a cut-off last line aside and return the size; called under the lock, so nobody is in mid-write."""
        size = os.fstat(self.descriptor).st_size
        tail = b"" if size == 0 or os.pread(self.descriptor, 1, size - 1) == b"\n" else self._tail(size)
        if tail and _is_event(tail):
            # Only its newline is missing: completing it loses nothing that was paid for.
            os.write(self.descriptor, b"\n")
            size += 1
        elif tail:
            torn = self.path.with_name(self.path.name + ".torn")
            with torn.open("ab") as aside:
                aside.write(tail + b"\n")
                aside.flush()
                os.fsync(aside.fileno())
            size -= len(tail)
            os.ftruncate(self.descriptor, size)
            self._warn(f"{self.path}: the last line was cut off in mid-write; its {len(tail)} bytes are now in {torn}")
        self._end = size
        return size

    def _tail(self, size: int) -> bytes:
        tail = b""
        while len(tail) < size and b"\n" not in tail:
            start = max(0, size - len(tail) - 65536)
            tail = os.pread(self.descriptor, size - len(tail) - start, start) + tail
        return tail.rpartition(b"\n")[2]

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


def _is_event(tail: bytes) -> bool:
    try:
        return schema.event_problem(strict_json.parse(tail)) is None
    except strict_json.NotStrictError:
        return False


def _beside(path: Path, warn: Callable[[str], None]) -> _File:
    """Open `<log>.rescued`; somewhere else if the log's folder is gone or somebody has a file of that name."""
    refused: Exception | None = None
    for folder in (path.parent, Path(), Path(tempfile.gettempdir())):
        for suffix in (".rescued", f".rescued-{os.getpid()}"):
            try:
                return _File(folder / f"{path.name}{suffix}", warn)
            except (OSError, InputError) as error:
                refused = error
    raise EnvironmentLacksError(f"{path} is no longer there, and nothing can be written beside it: {refused}")


@contextmanager
def open_log(
    path: Path, stages: tuple[str, ...], warn: Callable[[str], None], inputs: Sequence[Path] = ()
) -> Iterator[Log]:
    """Open a log for appending, as the only writer of each of the stages (`generate`, `judge`).

    Raises UsageError when another process holds a stage, or the path is one of the `inputs` or no
    regular file, InputError when it is a file that is no log, EnvironmentLacksError when it cannot be
    opened, and at the end when the log was taken away while it was written to.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file that can be appended to; without -o events go to stdout")
    check_no_input(path, inputs)
    with ExitStack() as leases:
        log = _leased(path, stages, warn, leases)
        try:
            yield log
        except BaseException as error:
            # What ended the command is what has to be told last, and what its exit code says.
            try:
                log.close()
            except KevalError as loss:
                if str(loss) != str(error):
                    warn(str(loss))
            raise
        log.close()


def _leased(path: Path, stages: tuple[str, ...], warn: Callable[[str], None], leases: ExitStack) -> Log:
    """Open a log and hold its stages; opened again if its path came to lead to another file meanwhile."""
    for _ in range(REOPENINGS):
        try:
            log = Log(path, warn)
            with ExitStack() as taken:
                taken.callback(log.release)
                for stage in stages:
                    taken.enter_context(lease.held(log.descriptor, path, stage))
                if log.is_at_its_path:
                    leases.push(taken.pop_all())
                    return log
        except OSError as error:
            raise EnvironmentLacksError(f"{error.filename or path}: {error.strerror}") from error
    raise EnvironmentLacksError(f"{path} is being replaced again and again; nothing was written to it")
