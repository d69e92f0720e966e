"""What was appended to logs since they were read: counted by how lines begin, which takes no time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keval.counted import counted
from keval.logs.log_head import line_begins

AT_ONCE = 2**20
"""Bytes that are read at once."""

_RESPONSE, _JUDGMENT = line_begins("response"), line_begins("judgment")


@dataclass
class ReadUpTo:
    """How far a log was read: up to the end of a line."""

    log: Path
    device: int
    inode: int
    end: int

    @classmethod
    def of(cls, log: Path) -> ReadUpTo:
        """Return where the last whole line of a log ends now. Raises OSError."""
        with log.open("rb") as file:
            status = os.fstat(file.fileno())
            return cls(log, status.st_dev, status.st_ino, _last_end(file.fileno(), status.st_size))


def _last_end(descriptor: int, size: int) -> int:
    """Return where the last line ends that ends within the first bytes of a file."""
    end = size
    while end > 0:
        begin = max(end - AT_ONCE, 0)
        found = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


@dataclass
class News:
    """Counts what comes after places in logs, each line once."""

    places: Sequence[ReadUpTo]
    lines: Counter[str] = field(default_factory=Counter)
    is_replaced: bool = False
    """Whether a log is no longer the file that was read, or is shorter."""

    def look(self) -> str | None:
        """Return in words what is new by now; None if nothing is."""
        for place in self.places:
            self._look_at(place)
        if self.is_replaced:
            return "the log is another one now"
        said = [counted(self.lines[kind], f"new {kind}") for kind in ("answer", "judgment") if self.lines[kind]]
        if not said and self.lines["event"]:
            said = [counted(self.lines["event"], "new event")]
        return " and ".join(said) or None

    def _look_at(self, place: ReadUpTo) -> None:
        try:
            with place.log.open("rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_dev, status.st_ino) != (place.device, place.inode) or status.st_size < place.end:
                    self.is_replaced = True
                    return
                end = _last_end(file.fileno(), status.st_size)
                file.seek(place.end)
                while place.end < end:
                    line = file.readline()
                    place.end += len(line)
                    self.lines[_kind(line)] += 1
        except OSError:
            self.is_replaced = True


def _kind(line: bytes) -> str:
    if line.startswith(_RESPONSE):
        return "answer"
    return "judgment" if line.startswith(_JUDGMENT) else "event"
