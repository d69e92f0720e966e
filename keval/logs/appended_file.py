"""One open file of events: whole lines under a lock, a cut-off last line set aside, losses noticed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote

from keval import schema
from keval.documents import strict_json
from keval.errors import EnvironmentLacksError, InputError, KevalError, Warn
from keval.logs import locks
from keval.logs.foreign import described
from keval.logs.log_head import HEAD_BYTES, begins_as_log
from keval.logs.on_disk import sync_folder

# macOS has no fdatasync; what it saves is only the write of the file's times.
_sync = getattr(os, "fdatasync", os.fsync)

TAIL = 2**16
"""Bytes at the end of a log in which its last newline is looked for first."""

MARK_BYTES = 256
"""How much of the last line that we wrote is looked at again: its type, id, time and run."""


class AppendedFile:
    """A file of events that is open for appending."""

    def __init__(self, path: Path, warn: Warn, flags: int = 0) -> None:
        self.path = path
        self._warn = warn
        self.descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | flags, 0o644)
        self._end = -1
        self._start = 0
        self._mark = b""
        self._mark_at = 0
        try:
            with locks.writing(self.descriptor, self.path, self._warn):
                self._check()
                self._start = self._mend()
            if not self._start:  # it may be new
                sync_folder(Path(os.path.realpath(path)).parent)
        except BaseException:
            self.close()
            raise

    def mend(self) -> None:
        """Set a cut-off last line aside, so that lines can be appended; a file that is somebody's is left as it is."""
        with suppress(KevalError, OSError), locks.writing(self.descriptor, self.path, self._warn):
            self._check()
            self._mend()

    def _check(self) -> None:
        """Raise InputError for a file that is neither empty nor begins as a log: it is somebody's."""
        size = os.fstat(self.descriptor).st_size
        if size and not begins_as_log(self.descriptor):
            held = described(os.pread(self.descriptor, HEAD_BYTES, 0))
            raise InputError(
                f"{self.path} is not a keval log: it holds {held}; it is left as it is:"
                " name a log, or a file that is not there yet"
            )
        tail = self._tail(size)
        if tail and not _is_event(tail) and not _is_cut_off(tail):
            raise InputError(
                f"{self.path}: its last line has no end and is no event, nor one that was cut off; it is left as it is:"
                f" keval validate {quote(str(self.path))} says what is wrong"
            )

    def write(self, lines: Sequence[bytes]) -> int:
        """Append lines by one write and return how many are there whole: at least one, or none where none was given.

        Raises EnvironmentLacksError when not even the first one fits.
        """
        try:
            with locks.writing(self.descriptor, self.path, self._warn):
                return self._append(lines)
        except OSError as error:
            raise self._unwritable(error) from error

    def _append(self, lines: Sequence[bytes]) -> int:
        size = os.fstat(self.descriptor).st_size
        if size > self._end:
            size = self._mend()
        data = b"".join(lines)
        number = len(lines)
        written, refused = self._write(data)
        if refused is not None:
            written = data.rfind(b"\n", 0, written) + 1
            number = data.count(b"\n", 0, written)
            os.ftruncate(self.descriptor, size + written)
            if not number:
                raise refused
        if number and size >= self._end:  # else it was cut short in this moment: `loss` compares with what it was
            self._mark, self._end = lines[number - 1][:MARK_BYTES], size + written
            self._mark_at = self._end - len(lines[number - 1])
        return number

    def _write(self, data: bytes) -> tuple[int, OSError | None]:
        """Return how many of these bytes are written, and the error if not all are."""
        written = os.write(self.descriptor, data)
        try:
            while written < len(data):  # a write that fits in part does not say why: the next one does
                written += os.write(self.descriptor, data[written:])
        except OSError as error:
            return written, error
        return written, None

    def pour(self, lines: Iterable[bytes]) -> int:
        """Write those lines that are whole events to a new file, all or none, and return how many.

        Raises EnvironmentLacksError.
        """
        number = 0
        try:
            for line in lines:
                if line.endswith(b"\n") and _is_event(line):
                    self.write([line])
                    number += 1
        except EnvironmentLacksError:
            os.ftruncate(self.descriptor, 0)
            self._end = 0
            raise
        return number

    def since_opened(self) -> Iterator[bytes]:
        """Return the lines that anybody appended since the file was opened, as far as they are still there."""
        return lines_of(self.descriptor, self._start)

    def sync(self) -> None:
        """Put what was written on disk. Raises EnvironmentLacksError."""
        try:
            _sync(self.descriptor)
        except OSError as error:
            raise self._unwritable(error) from error

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
        try:
            return self.parting() or self._change()
        except OSError as error:
            return f"can no longer be read ({error.strerror})"

    def _change(self) -> str | None:
        if os.fstat(self.descriptor).st_size < self._end:
            return "was cut short"
        # Cut short and grown again, or saved from an editor: our last line is not where we wrote it.
        if os.pread(self.descriptor, len(self._mark), self._mark_at) != self._mark:
            return "was written over"
        return None

    def _unwritable(self, error: OSError) -> EnvironmentLacksError:
        return EnvironmentLacksError(
            f"{error.filename or self.path}: {error.strerror or error}; the log ends with its last whole line:"
            " mend that and run the same command again"
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
            torn = self._set_aside(tail)
            size -= len(tail)
            os.ftruncate(self.descriptor, size)
            self._warn(f"{self.path}: the last line was cut off in mid-write; its {len(tail)} bytes are now in {torn}")
        self._end = size
        return size

    def _set_aside(self, tail: bytes) -> Path:
        """Put a cut-off line into `<log>.torn`, which is a file of this log alone, and return its path."""
        torn = self.path.with_name(self.path.name + ".torn")
        aside = os.open(torn, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with os.fdopen(aside, "ab") as file:
            if os.fstat(aside).st_nlink > 1:
                raise OSError(errno.EMLINK, "is a link to another file; remove it", str(torn))
            file.write(tail + b"\n")
            file.flush()
            os.fsync(aside)
        sync_folder(torn.parent)
        return torn

    def _tail(self, size: int) -> bytes:
        """Return what comes after the last newline: it may be long, so twice as much is read each time."""
        most = TAIL
        while b"\n" not in (tail := os.pread(self.descriptor, most, max(0, size - most))) and most < size:
            most *= 2
        return tail.rpartition(b"\n")[2]

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


def lines_of(descriptor: int, start: int) -> Iterator[bytes]:
    """Yield the lines of an open file from a place on, as far as they can be read."""
    with open(descriptor, "rb", closefd=False) as lines, suppress(OSError):
        lines.seek(start)
        yield from lines


def _is_cut_off(tail: bytes) -> bool:
    """Return whether a line may be the front of an event, rather than a whole value, or several."""
    try:
        json.JSONDecoder().raw_decode(tail.decode(errors="replace"))
    except ValueError:
        return True
    except RecursionError:
        return False
    return False


def _is_event(tail: bytes) -> bool:
    try:
        return schema.event_problem(strict_json.parse(tail)) is None
    except strict_json.NotStrictError:
        return False
