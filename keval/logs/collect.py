"""Turns logs and pipes into files of complete, valid lines, which is all that DuckDB may be given.

DuckDB reads what it is given leniently or not at all: a wrong type becomes another value. So every line is checked here
first, and counted: DuckDB reads the file again, and what a writer has added by then is not looked at. What was checked
and computed of a large log is kept in its index.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from keval.documents.packed import is_packed
from keval.errors import InputError, UsageError, Warn
from keval.logs import index
from keval.logs.addresses import name_of, no_text
from keval.logs.check import Check, NotWholeError, ends_with_line
from keval.logs.index import Index
from keval.logs.line_copy import LineCopy, copied, writing_copy
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.stream import log_reader, standard_input
from keval.processes import memory, temporary
from keval.processes.file_parts import copy_part
from keval.processes.interrupted_input import read_to_the_end
from keval.projections import growing
from keval.projections.growing import GrowingFile
from keval.projections.log_file import Lines, LogFile, VanishedError

MOST_LOGS = 2**15 - 1
"""Logs that are read at once: a table of lines has their numbers in two bytes."""

ENOUGH_MEMORY = 1536 * 2**20
"""Bytes that have to be free for lines to be checked and read at the same time."""

NOTHING = Lines(array("q"), 0)


@contextmanager
def collected(  # noqa: PLR0913 - what is read, who is told, and two sizes that tests make small
    logs: Sequence[Path],
    warn: Warn,
    *,
    skip_invalid: bool = False,
    on_lines: Callable[[bytes], None] | None = None,
    smallest: int = index.SMALLEST,
    piece: int = growing.PIECE,
) -> Iterator[list[LogFile]]:
    """Yield files that hold the logs' events, with how many lines of each were checked; stdin when there is no log.

    A log is used as it is, be it written to meanwhile; one with lines to leave out in its middle, and stdin, become
    temporary files. Of one pipe or packed log alone no more than `piece` bytes are copied now. The rest is copied and
    checked when its file is read, which then raises what this does. `on_lines` is called for lines of stdin as they
    are copied. A log of `smallest` bytes gets an index.
    Raises InputError, and UsageError if stdout leads into one of the logs.
    """
    check_stdout(logs or [STDIN], "write to another file")
    if len(logs) > MOST_LOGS:
        raise UsageError(f"{len(logs)} logs are more than {MOST_LOGS}; merge some of them with cat")
    with ExitStack() as kept:
        folder = kept.enter_context(temporary.folder())
        collection = _Collection(warn, skip_invalid, on_lines, smallest, piece, len(logs) <= 1, kept)
        yield [collection.file(log, folder / f"{number}.jsonl") for number, log in enumerate(logs or [STDIN])]


def check_not_empty(files: Sequence[LogFile]) -> None:
    """Raise InputError where no log has an event: nothing can be said of it, be it good or bad."""
    if files and all(file.lines == 0 for file in files):
        raise no_events(*(file.name for file in files))


def check_named_not_empty(logs: Sequence[Path], files: Sequence[LogFile]) -> None:
    """Raise InputError where the named logs have no event; in a pipe the command before says why nothing comes."""
    if logs and STDIN not in logs:
        check_not_empty(files)


def no_events(*names: str) -> InputError:
    """Return the error of logs without an event."""
    return InputError(f"{', '.join(names)}: no events in it; keval generate CONFIG -o LOG writes them")


@dataclass(frozen=True)
class _Collection:
    """How logs become files of valid lines."""

    warn: Warn
    skip_invalid: bool
    on_lines: Callable[[bytes], None] | None
    smallest: int
    piece: int
    is_alone: bool
    """Whether there is one log, which may be read while it is copied; several are read one after the other."""
    kept: ExitStack
    """Holds open what is read later: indexes, packed logs, and what Ctrl-C does while stdin is read."""

    def file(self, log: Path, copy: Path) -> LogFile:
        """Return a log as a file of valid lines: itself, or a copy that is made now."""
        if (problem := no_text(str(log))) is not None:
            raise InputError(problem)
        if log == STDIN:
            return self._copied_stdin(copy)
        if not log.is_file() or is_packed(log):  # a pipe can be read only once, and a packed log is slow to read
            return self._copied_once(log, copy)
        check = Check(log, self.warn, self.skip_invalid)
        try:
            return self._itself(log, copy, check)
        except FileNotFoundError as error:
            if log.exists():
                raise
            raise VanishedError(name_of(log)) from error
        except NotWholeError:
            # Of what was checked before, everything has been said.
            with log_reader(log, lambda _: None, skip_invalid=True) as reader:
                valid = takewhile(lambda stretch: stretch.offset < check.end, reader.stretches())
                where = copied(valid, copy)
            return replace(_whole_copy(name_of(log), copy, where), skipped=reader.skipped)

    def _copied_stdin(self, copy: Path) -> LogFile:
        reading = self.kept.enter_context(read_to_the_end(self.warn))
        piped = standard_input(self.warn, skip_invalid=self.skip_invalid)
        # Without a buffer, which would wait until it is full: what comes in is passed on at once.
        reader = replace(piped, source=io.FileIO(piped.source.fileno(), closefd=False))
        lines = LineCopy(GrowingFile(copy, self.piece), reader.stretches(), self.on_lines, reading.end)
        self.kept.push(lines.pass_on_rest)
        return self._copied(name_of(STDIN), lines)

    def _copied_once(self, log: Path, copy: Path) -> LogFile:
        """Return a copy of a pipe with a name or a packed log, which stays open as long as there is more to copy."""
        with ExitStack() as opened:
            reader = opened.enter_context(log_reader(log, self.warn, skip_invalid=self.skip_invalid))
            file = self._copied(name_of(log), LineCopy(GrowingFile(copy, self.piece), reader.stretches()))
            if file.growing is not None:
                self.kept.push(opened.pop_all())
        return file

    def _copied(self, name: str, lines: LineCopy) -> LogFile:
        """Return a copy of lines; of many the rest is copied while they are read."""
        lines.begin()
        copy = lines.growing.path
        if self.is_alone and not lines.is_whole and memory.available() >= ENOUGH_MEMORY:
            return LogFile(copy, name, find_lines=lines.rest, is_checked=False, growing=lines.growing)
        return _whole_copy(name, copy, lines.rest())

    def _itself(self, log: Path, copy: Path, check: Check) -> LogFile:
        """Return a log that is used as it is, with its index if it is large enough for one.

        Raises NotWholeError if it has lines that are left out.
        """
        size = _size(log)
        known = index.find(log, self.kept) if size >= self.smallest else None
        if known is not None:
            file = _continued(LogFile(log, name_of(log), stored=known.stored), known, check, copy)
            if check.changes_all or check.end - known.log.size > size * index.NEW_SHARE:
                return self._indexed(file, copy, check)
            return file
        # Lines are checked and read side by side, so both go to where the log ends now: if a line ends there.
        if size >= self.smallest and ends_with_line(log, size):
            check.until = size
            return self._indexed(LogFile(log, name_of(log), find_lines=check.all, is_checked=False), copy, check)
        where = check.all()
        return LogFile(log, name_of(log), len(where.offsets), find_lines=lambda: where)

    def _indexed(self, file: LogFile, copy: Path, check: Check) -> LogFile:
        """Return a log with an index that is made now."""
        made = index.make(file, copy.with_suffix(".index"), check, self.kept)
        return LogFile(file.path, file.name, made.lines, made.stored, find_lines=lambda: NOTHING)


def _whole_copy(name: str, copy: Path, where: Lines) -> LogFile:
    return LogFile(copy, name, len(where.offsets), rest=copy, find_lines=lambda: where)


def _continued(file: LogFile, known: Index, check: Check, copy: Path) -> LogFile:
    """Return a log with the lines that its index does not have yet."""
    check.go_on_after(known.log, known.lines, known.longest)
    where = check.all()
    if where.offsets:
        with writing_copy(copy):
            copy_part(file.path, known.log.size, check.end, copy)
    lines = known.lines + len(where.offsets)
    return replace(file, lines=lines, rest=copy if where.offsets else None, find_lines=lambda: where)


def _size(log: Path) -> int:
    try:
        return log.stat().st_size
    except OSError as error:
        raise InputError(f"{name_of(log)}: {error.strerror}") from error
