"""What the views need to know of a log: where it lies, what it is called, and how much of it was checked.

A log may be written to while it is read. What was checked of it is a number of lines: complete lines never change, so
these are the same whenever they are read again, and what comes after them is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path


@dataclass(frozen=True)
class LogFile:
    """A file of events."""

    path: Path
    name: str
    """What the user calls the log, `-` for stdin; the file may be a copy."""
    lines: int | None = None
    """How many lines were checked; None reads all that the file holds, whenever it is read."""

    checked_longest: int | None = field(default=None, compare=False)
    """Bytes of the longest line, where it was looked for when the lines were checked."""

    @cached_property
    def longest_line(self) -> int:
        """Bytes of the longest line that counts; the file is read for it if it was not checked."""
        if self.checked_longest is not None:
            return self.checked_longest
        return max(map(len, self.read()), default=0)

    def read(self) -> Iterator[bytes]:
        """Yield the lines that count, with their ends."""
        with self.path.open("rb") as log:
            yield from islice(log, self.lines)


def as_log_file(log: LogFile | Path) -> LogFile:
    """Return a log; a path alone is all of that file under its own name."""
    return LogFile(log, str(log)) if isinstance(log, Path) else log
