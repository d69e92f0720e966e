"""Checks the lines of a log, and notes where they lie and what they were."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from keval.errors import InputError, Warn
from keval.logs import fingerprint
from keval.logs.addresses import name_of
from keval.logs.fingerprint import Digest, Fingerprint, Status
from keval.logs.log_head import line_begins
from keval.logs.stream import Stretch, log_reader
from keval.projections.log_file import CHANGES_ALL, ChangedError, Lines


class NotWholeError(Exception):
    """A log has lines that are left out, so that what counts of it is a copy of the others, not the log itself."""


_CHANGES_ALL = tuple(b"\n" + line_begins(each) for each in CHANGES_ALL)


@dataclass
class Check:
    """One check of a log, from its beginning or from a place up to which it was checked before."""

    path: Path
    warn: Warn
    skip_invalid: bool = False
    lines: int = 0
    """How many lines are valid."""
    end: int = 0
    """Where the last of them ends, in bytes."""
    longest: int = 0
    """Bytes of the longest of them."""
    until: int | None = None
    """Where the last line ends that is taken; later ones have just been appended, and are left for another time."""
    changes_all: bool = False
    """Whether one of the lines that were read may change what becomes of any that were checked before."""
    _digest: Digest = field(default_factory=Digest)
    """The hash of the valid lines that this check read."""
    _status: Status | None = None
    _before: Fingerprint | None = None
    """The lines that were checked before."""

    def go_on_after(self, before: Fingerprint, lines: int, longest: int) -> None:
        """Take the first lines for checked."""
        self.lines, self.end, self.longest = lines, before.size, longest
        self._before = before

    def all(self) -> Lines:
        """Check the lines to the end of the log and return where they lie.

        Raises InputError; and NotWholeError, at the end, if lines between them are left out.
        """
        offsets, is_whole = array("q"), True
        with log_reader(self.path, self.warn, skip_invalid=self.skip_invalid) as reader:
            self._status = fingerprint.status(reader.source.fileno())
            reader.source.seek(self.end)
            for stretch in reader.stretches(self.end, self.lines + 1):
                if self.until is None or stretch.offset < self.until:
                    is_whole = is_whole and stretch.offset == self.end
                    self._take(stretch if self.until is None else _beginning(stretch, self.until), offsets)
            is_whole = is_whole and self.end <= reader.source.seek(0, 2)
        if not is_whole:
            raise NotWholeError
        return Lines(offsets, self.longest)

    def _take(self, stretch: Stretch, offsets: array[int]) -> None:
        self._digest.add(stretch.raw)
        if self._before is not None:
            lines = b"\n" + stretch.raw
            self.changes_all = self.changes_all or any(begin in lines for begin in _CHANGES_ALL)
        offsets.extend(accumulate(stretch.lengths, initial=stretch.offset))
        self.end = offsets.pop()
        self.lines += len(stretch.lengths)
        self.longest = max(self.longest, *stretch.lengths)

    def fingerprint(self) -> Fingerprint:
        """Return what was checked; lines that were checked before are read again for it. Raises ChangedError."""
        before = self._before
        if before is None:
            return Fingerprint(self.end, str(self._digest), self._status)
        with self.path.open("rb") as log:
            whole = fingerprint.digest_of(log.fileno(), before.size)
            is_as_before = str(whole) == before.digest
            new = fingerprint.digest_of(log.fileno(), self.end, before.size)
            whole = fingerprint.digest_of(log.fileno(), self.end, before.size, whole)
        if not is_as_before or str(new) != str(self._digest):
            raise ChangedError(name_of(self.path))
        return Fingerprint(self.end, str(whole), self._status)


def ends_with_line(path: Path, size: int) -> bool:
    """Return whether a line ends where the first bytes of a file end.

    Raises FileNotFoundError for one that is not there, and InputError for one that cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(max(size - 1, 0))
            return file.read(1) == b"\n"
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{name_of(path)}: {error.strerror}") from error


def _beginning(stretch: Stretch, until: int) -> Stretch:
    """Return the lines of a stretch that end before a place, at which a line ends."""
    if stretch.offset + len(stretch.raw) <= until:
        return stretch
    ends = accumulate(stretch.lengths, initial=stretch.offset)
    number = sum(end <= until for end in ends) - 1
    return Stretch(stretch.offset, stretch.raw[: until - stretch.offset], stretch.lengths[:number])
