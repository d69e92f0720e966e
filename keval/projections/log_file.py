"""What the views need to know of a log: where it lies, what it is called, and how much of it was checked.

A log may be written to while it is read. What was checked of it is a number of lines: complete lines never change, so
these are the same whenever they are read again, and what comes after them is not looked at.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from keval.errors import InputError
from keval.projections.growing import GrowingFile

CHANGES_ALL = ("run", "plan", "retraction", "until_rule", "until_end")
"""The types of events that may change what becomes of any other line."""

DECLARING = ("run", "plan", "sample_change", "until_rule", "until_end")
"""The types of events of which few lines are, and much stands in `declarations`."""


class ChangedError(InputError):
    """A log is no longer what was checked: somebody wrote over it or cut it off."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: changed while it was read, in lines that were complete; try again")


class VanishedError(InputError):
    """A log is no longer where it was."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: was moved or removed while it was read; try again with its present name")


class Lines(NamedTuple):
    """Where lines of a log lie."""

    offsets: array[int]
    """The byte at which each begins, in order."""
    longest: int
    """Bytes of the longest one, its newline included."""


class Stored(NamedTuple):
    """A database with the tables of the first lines of a log, which is never written to again."""

    path: Path
    lines: int
    """How many lines it has."""
    size: int
    """Where the last of them ends in the log, in bytes."""


@dataclass(frozen=True)
class LogFile:
    """A file of events."""

    path: Path
    name: str
    """What the user calls the log, `-` for stdin; the file may be a copy."""
    lines: int | None = None
    """How many lines count; None for all that the file holds, whenever it is read."""
    stored: Stored | None = field(default=None, compare=False)
    """What is known of the first lines already."""
    rest: Path | None = field(default=None, compare=False)
    """A file of the lines that are not stored, to which nobody writes; None: they are read from the log."""
    find_lines: Callable[[], Lines] | None = field(default=None, compare=False)
    """Checks the lines that are not stored, and returns where they lie; None takes them as they are."""
    is_checked: bool = field(default=True, compare=False)
    """Whether `find_lines` has nothing to check any more; else it may take seconds."""
    growing: GrowingFile | None = field(default=None, compare=False)
    """The file, if it is `find_lines` that writes the rest of it: what has been checked can be read meanwhile."""
    skipped: int = field(default=0, compare=False)
    """Lines that were left out because they are no valid events."""

    @cached_property
    def where(self) -> Lines:
        """Where the lines lie that are not stored. Raises what `find_lines` raises."""
        return _found(self.path, self.lines) if self.find_lines is None else self.find_lines()

    @property
    def ready(self) -> Path | None:
        """The database in which all is computed already, if there is one. Raises what `find_lines` raises."""
        return None if self.stored is None or self.where.offsets else self.stored.path

    def read(self) -> Iterator[bytes]:
        """Yield the lines that count, with their ends. Raises what `find_lines` raises."""
        lines = self.lines if self.growing is None else len(self.where.offsets)
        with self.path.open("rb") as log:
            yield from islice((line for line in log if line.strip()), lines)


def as_log_file(log: LogFile | Path) -> LogFile:
    """Return a log; a path alone is all of that file under its own name."""
    return LogFile(log, str(log)) if isinstance(log, Path) else log


def _found(path: Path, lines: int | None) -> Lines:
    offsets, longest, offset = array("q"), 0, 0
    with path.open("rb") as log:
        for line in log:
            if len(offsets) == lines:
                break
            if line.strip():
                offsets.append(offset)
                longest = max(longest, len(line))
            offset += len(line)
    return Lines(offsets, longest)
