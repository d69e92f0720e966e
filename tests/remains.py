"""Looks for processes that a run has left behind."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil

from keval.processes import TOKEN


def of_tasks(folder: Path) -> Iterator[str]:
    """Yield the names of living processes that bear a task's token and work below a folder."""
    for process in psutil.process_iter():
        try:
            environ = process.environ()
            alive = process.status() != psutil.STATUS_ZOMBIE
            if alive and TOKEN in environ and str(folder) in " ".join(environ.values()):
                yield process.name()
        except (psutil.Error, OSError):
            continue  # it ended while it was looked at, or is somebody else's


def listed(folder: Path) -> list[str]:
    """Return what `ps` lists with a path below a folder."""
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if str(folder) in line]
