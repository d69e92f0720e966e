"""Looks for processes that a run has left behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from keval.processes.tree import TOKEN


def of_tasks(folder: Path) -> Iterator[str]:
    """Yield the names of living processes that bear a task's token and work below a folder."""
    return (found.name for found in _below(folder) if TOKEN in found.environ)


def marked(mark: str) -> list[psutil.Process]:
    """Return the living processes that have MARK in their environment with this value."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MARK") == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


def is_gone(pid: int) -> bool:
    """Return whether a process has ended, though nobody may have asked yet how."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def left_below(folder: Path) -> list[str]:
    """Return the command lines of all living processes that know of a folder, by whatever way."""
    return [" ".join(found.command_line) for found in _below(folder)]


@dataclass(frozen=True)
class Seen:
    """What a process was when it was looked at: it may have ended since."""

    name: str
    command_line: list[str]
    environ: dict[str, str]


def _below(folder: Path) -> Iterator[Seen]:
    for process in psutil.process_iter():
        try:
            seen = Seen(process.name(), process.cmdline(), process.environ())
            known = [process.cwd(), *seen.command_line, *seen.environ.values()]
            living = process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            continue  # it ended while it was looked at, or is somebody else's
        if living and str(folder) in " ".join(known):
            yield seen
