"""The standard streams may be closed, full, or go away while a command works.

What goes to stdout is data: when it cannot be written, the command has failed and says so. What
goes to stderr is for people: when nobody can read it, the run goes on. Only keval's own code
writes to stdout. A terminal that goes away, because a connection breaks off or a window is closed
over a run that was detached from its shell, is no error on either.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from keval.errors import EnvironmentLacksError, ReaderGoneError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDIN_FD, STDOUT_FD, STDERR_FD = range(3)

MODES = {STDIN_FD: os.O_WRONLY, STDOUT_FD: os.O_RDONLY, STDERR_FD: os.O_WRONLY}
"""How the null device stands in for a stream that is closed: what reads stdin or writes stdout still fails."""


class Data(io.FileIO):
    """Standard output: what cannot be written is an error about the run."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._is_terminal = self.isatty()  # one that is gone would not say so any more

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes and return how many were taken. Raises ReaderGoneError, EnvironmentLacksError."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno == errno.EIO and self._is_terminal:
                return memoryview(data).nbytes
            raise unwritable(error) from error


class Words(io.FileIO):
    """Standard error: what nobody can read any more counts as said."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes and return how many were taken."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def unwritable(error: OSError) -> ReaderGoneError | EnvironmentLacksError:
    """Return what an error in writing to stdout means for the command."""
    if isinstance(error, BrokenPipeError):
        return ReaderGoneError("the reader of stdout has left")
    reason = "closed" if error.errno == errno.EBADF else error.strerror
    return EnvironmentLacksError(f"stdout: {reason}; not all of the output was written")


def outlive() -> None:
    """Let the process go on whatever becomes of the streams that it was given."""
    for descriptor, mode in MODES.items():
        try:
            os.fstat(descriptor)
        except OSError:
            # Else the next file that is opened, a log perhaps, would be what prints are written to.
            os.open(os.devnull, mode)
    # Data has a descriptor of its own: what functions of the user's write to the usual one, by themselves or by the
    # programs that they start, is said to people.
    data = os.dup(STDOUT_FD)
    os.dup2(STDERR_FD, STDOUT_FD)
    sys.stdout = _text(Data(data), sys.stdout)
    sys.stdout.reconfigure(encoding="utf-8")  # data is the same whatever this shell is set to
    sys.stderr = _text(Words(STDERR_FD, "w", closefd=False), sys.stderr)


def give_up_stdout() -> None:
    """Lead what is left for stdout to nowhere, so that Python does not fail once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _text(raw: io.FileIO, given: TextIO | None) -> io.TextIOWrapper:
    """Return a stream of text that writes like the one that Python made; it made none for a closed one."""
    encoding, errors = ("utf-8", "backslashreplace") if given is None else (given.encoding, given.errors)
    by_line = raw.isatty() or raw.fileno() == STDERR_FD
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=by_line)
