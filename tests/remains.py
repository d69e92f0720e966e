"""Looks for processes that a run has left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

from keval.processes import TOKEN


def of_tasks(folder: Path) -> Iterator[str]:
    """Yield the names of living processes that bear a task's token and work below a folder."""
    return (process.name() for process, environ in _below(folder) if TOKEN in environ)


def left_below(folder: Path) -> list[str]:
    """Return the command lines of all living processes that know of a folder, by whatever way."""
    return [" ".join(process.cmdline()) for process, _ in _below(folder)]


def _below(folder: Path) -> Iterator[tuple[psutil.Process, dict[str, str]]]:
    for process in psutil.process_iter():
        try:
            environ = process.environ()
            known = [process.cwd(), *process.cmdline(), *environ.values()]
            if process.status() != psutil.STATUS_ZOMBIE and str(folder) in " ".join(known):
                yield process, environ
        except (psutil.Error, OSError):
            continue  # it ended while it was looked at, or is somebody else's
