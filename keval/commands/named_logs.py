"""Finds the files that the names of logs on a command line mean."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from keval.commands.messages import warn
from keval.errors import InputError, UsageError
from keval.logs import addresses


def paths_of(names: Iterable[str]) -> list[Path]:
    """Return the files of logs: each name is a file, `-`, an address, or a pattern such as 'runs/**/*.jsonl'.

    A pattern may mean more files than a shell can name, which come sorted. A file whose name looks like a pattern is
    that file. What an address means is copied to this machine. Raises InputError for a pattern that no file matches,
    UsageError for an empty name, and for addresses as `remote.fetched`.
    """
    return [path for name in names for path in _paths_of(name)]


def matching(names: Iterable[Path]) -> list[Path]:
    """Return the files that names mean, as `paths_of` does, but for addresses. Raises InputError, UsageError."""
    return [path for name in names for path in _local(str(name))]


def _paths_of(name: str) -> Iterator[Path]:
    if addresses.scheme_of(name) is not None:
        from keval.logs import remote

        yield from remote.fetched(name, warn)
        return
    yield from _local(name)


def _local(name: str) -> Iterator[Path]:
    if not name:  # as of a variable of a shell that is not set; a Path of it is the current folder
        raise UsageError("the name of a log is empty")
    if not glob.has_magic(name) or os.path.lexists(name):
        yield Path(name)
        return
    found = sorted(filter(os.path.isfile, glob.iglob(name, recursive=True)))  # noqa: PTH207 - a Path has no absolute patterns
    if not found:
        raise InputError(f"{name}: no file matches this pattern")
    yield from map(Path, found)
