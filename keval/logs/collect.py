"""Turns logs and pipes into files of complete, valid lines, which is all that DuckDB may be given.

DuckDB reads what it is given leniently or not at all: a cut-off line fails the whole query, and a
wrong type becomes another value. So every line is checked here first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from keval.errors import EnvironmentLacksError
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.stream import Line, Reader, opened, standard_input
from keval.processes import temporary


@contextmanager
def collected(
    logs: Sequence[Path],
    warn: Callable[[str], None],
    *,
    skip_invalid: bool = False,
    on_line: Callable[[Line], None] | None = None,
) -> Iterator[list[Path]]:
    """Yield paths of files that hold the logs' events and nothing else; stdin when there is no log.

    A log that is whole is used as it is; one with lines to leave out, and stdin, become temporary
    files. `on_line` is called for each line of stdin as it comes in. Raises InputError, and UsageError
    if stdout leads into one of the logs.
    """
    check_stdout(logs or [STDIN], "write to another file")
    with temporary.folder() as folder:
        paths = []
        for number, log in enumerate(logs or [STDIN]):
            copy = folder / f"{number}.jsonl"
            if log == STDIN:
                _copy(standard_input(warn, skip_invalid=skip_invalid), copy, on_line)
                paths.append(copy)
            elif log.is_file() and _is_whole(log, warn, skip_invalid=skip_invalid):
                paths.append(log)
            else:
                _copy_file(log, copy, warn, skip_invalid=skip_invalid)
                paths.append(copy)
        yield paths


def _is_whole(log: Path, warn: Callable[[str], None], *, skip_invalid: bool) -> bool:
    """Check every line of a log and say whether all of it can be used."""
    with opened(log, warn, skip_invalid=skip_invalid) as reader:
        valid = sum(len(line.raw) for line in reader)
        return valid == reader.source.tell()


def _copy_file(log: Path, copy: Path, warn: Callable[[str], None], *, skip_invalid: bool) -> None:
    """Copy what can be used of a log; a pipe, such as `<(zcat run.jsonl.gz)`, is checked as it is read."""
    told = log.is_file()  # of a file that was checked before, everything has been said
    with opened(log, (lambda _: None) if told else warn, skip_invalid=told or skip_invalid) as reader:
        _copy(reader, copy, None)


def _copy(reader: Reader, copy: Path, on_line: Callable[[Line], None] | None) -> None:
    try:
        with copy.open("wb") as target:
            for line in reader:
                target.write(line.raw)
                if on_line is not None:
                    on_line(line)
    except OSError as error:  # of the copy: what is read and what is passed on have errors of their own
        raise EnvironmentLacksError(f"{copy}: {error.strerror}; TMPDIR names another folder") from error
