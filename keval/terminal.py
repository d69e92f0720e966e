"""A terminal may go away while a command works: what nobody can read any more is no error.

A connection breaks off, or a window is closed over a run that was detached from its shell. Writing
to such a terminal fails, and a progress table must not end the run that it shows.
"""

from __future__ import annotations

import errno
import io
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Terminal(io.FileIO):
    """A terminal that takes what is written to it for written once it is gone."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes and return how many were taken."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return memoryview(data).nbytes


def outlive() -> None:
    """Let the process go on when a terminal that it prints on goes away."""
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)


def _lasting(stream: TextIO) -> TextIO:
    if not stream.isatty():
        return stream
    raw = io.BufferedWriter(Terminal(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(raw, stream.encoding, stream.errors, line_buffering=True)
