"""Finds the logs of a folder: files that are named as logs are, and that begin with an event."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from keval.errors import InputError
from keval.logs.log_head import begins_as_log


def logs_of(folder: Path) -> list[Path]:
    """Return the logs of a folder, the one that was written to last first. Raises InputError.

    A file that is named as a log and that nobody lets us read may be one.
    """
    try:
        named = [path for path in folder.iterdir() if path.suffix == ".jsonl"]
    except NotADirectoryError as error:
        raise InputError(
            f"{folder} is a file, where a folder of logs is asked for; keval summarize tells of one log"
        ) from error
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from error
    found = [(changed_ns, path) for path in named if (changed_ns := _changed_ns(path)) is not None]
    return [path for _, path in sorted(found, key=lambda each: (-each[0], each[1].name))]


def newest_log(folder: Path) -> Path:
    """Return the log of a folder that was written to last. Raises InputError if there is none."""
    newest = next((log for log in logs_of(folder) if not _is_locked(log)), None)
    if newest is None:
        raise InputError("there is no log in this folder: name one, or pipe one in")
    return newest


def is_log(path: Path) -> bool:
    """Return whether a file can be read and is not empty, and begins as a log."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return path.is_file() and os.fstat(descriptor).st_size > 0 and begins_as_log(descriptor)
    finally:
        os.close(descriptor)


def _changed_ns(path: Path) -> int | None:
    """Return when a log was written to last; None for a file that is none, or that was removed meanwhile."""
    with suppress(OSError):
        return path.stat().st_mtime_ns if is_log(path) or _is_locked(path) else None
    return None


def _is_locked(path: Path) -> bool:
    """Return whether a file is there and cannot be read."""
    return path.is_file() and not os.access(path, os.R_OK)
