"""Finds the files that the names of logs on a command line mean."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from keval.errors import InputError


def paths_of(names: Iterable[str]) -> list[Path]:
    """Return the files of logs: each name is a file, `-`, or a pattern such as 'runs/**/*.jsonl', sorted by name.

    A pattern may mean more files than a shell can name. A file whose name looks like a pattern is that file. Raises
    InputError for a pattern that no file matches.
    """
    return [path for name in names for path in _paths_of(name)]


def _paths_of(name: str) -> Iterator[Path]:
    if not glob.has_magic(name) or os.path.lexists(name):
        yield Path(name)
        return
    found = sorted(filter(os.path.isfile, glob.iglob(name, recursive=True)))  # noqa: PTH207 - a Path has no absolute patterns
    if not found:
        raise InputError(f"{name}: no file matches this pattern")
    yield from map(Path, found)
