"""Turns logs and pipes into files of complete, valid lines, which is all that DuckDB may be given.

DuckDB reads what it is given leniently or not at all: a wrong type becomes another value. So every line is checked here
first, and counted: DuckDB reads the file again, and what a writer has added by then is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from keval.errors import EnvironmentLacksError
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.stream import Line, Reader, opened, standard_input
from keval.processes import temporary
from keval.projections.log_file import LogFile


@contextmanager
def collected(
    logs: Sequence[Path],
    warn: Callable[[str], None],
    *,
    skip_invalid: bool = False,
    on_line: Callable[[Line], None] | None = None,
) -> Iterator[list[LogFile]]:
    """Yield files that hold the logs' events, with how many lines of each were checked; stdin when there is no log.

    A log is used as it is, be it written to meanwhile; one with lines to leave out in its middle, and stdin, become
    temporary files. `on_line` is called for each line of stdin as it comes in. Raises InputError, and UsageError
    if stdout leads into one of the logs.
    """
    check_stdout(logs or [STDIN], "write to another file")
    with temporary.folder() as folder:
        yield [
            _file(log, folder / f"{number}.jsonl", warn, skip_invalid, on_line)
            for number, log in enumerate(logs or [STDIN])
        ]


def _file(
    log: Path, copy: Path, warn: Callable[[str], None], skip_invalid: bool, on_line: Callable[[Line], None] | None
) -> LogFile:
    """Return a log as a file of valid lines: itself, or a copy that is made now."""
    if log == STDIN:
        lines, longest = _copy(standard_input(warn, skip_invalid=skip_invalid), copy, on_line)
    elif not log.is_file():  # a pipe, such as `<(zcat run.jsonl.gz)`, is checked as it is read
        with opened(log, warn, skip_invalid=skip_invalid) as reader:
            lines, longest = _copy(reader, copy, None)
    else:
        checked = _checked(log, warn, skip_invalid=skip_invalid)
        if checked.is_whole:
            return LogFile(log, str(log), checked.lines, checked.longest)
        # Of what was checked before, everything has been said.
        with opened(log, lambda _: None, skip_invalid=True) as reader:
            lines, longest = _copy(_until(reader, checked.end), copy, None)
    return LogFile(copy, str(log), lines, longest)


class _Checked(NamedTuple):
    """What was found when a log was checked."""

    lines: int
    """How many are valid."""
    longest: int
    """Bytes of the longest one."""
    end: int
    """Where the last one ends, in bytes."""
    is_whole: bool
    """Whether all before it are valid."""


def _checked(log: Path, warn: Callable[[str], None], *, skip_invalid: bool) -> _Checked:
    """Check every line of a log."""
    count = valid = end = longest = 0
    with opened(log, warn, skip_invalid=skip_invalid) as reader:
        for line in reader:
            count += 1
            valid += len(line.raw)
            longest = max(longest, len(line.raw))
            end = reader.source.tell()
    return _Checked(count, longest, end, valid == end)


def _until(reader: Reader, end: int) -> Iterator[Line]:
    """Yield the lines of a log that begin before a place in it."""
    begins = 0
    for line in reader:
        if begins >= end:
            return
        yield line
        begins = reader.source.tell()


def _copy(lines: Iterable[Line], copy: Path, on_line: Callable[[Line], None] | None) -> tuple[int, int]:
    """Write lines to a file; return how many, and how many bytes the longest has."""
    count = longest = 0
    try:
        with copy.open("wb") as target:
            for line in lines:
                target.write(line.raw)
                count += 1
                longest = max(longest, len(line.raw))
                if on_line is not None:
                    on_line(line)
    except OSError as error:  # of the copy: what is read and what is passed on have errors of their own
        raise EnvironmentLacksError(f"{copy}: {error.strerror}; TMPDIR names another folder") from error
    return count, longest
