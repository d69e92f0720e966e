"""Finds the log that is meant when none is named."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from keval.commands.messages import warn
from keval.errors import UsageError
from keval.logs.folder import newest_log


def chosen(logs: Sequence[Path]) -> list[Path]:
    """Return the logs that were named; or stdin, as no log; or where nobody pipes anything the newest log here.

    That is said on stderr. Nobody pipes anything when stdin is a terminal or the null device. Raises InputError when
    there is no log in this folder.
    """
    if logs or sys.stdin is None or not stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode):
        return list(logs)
    return [newest()]


def check_named_or_piped(logs: Sequence[Path]) -> None:
    """Raise UsageError where no log is named and stdin is a terminal: nothing would come, and nobody would say so."""
    if not logs and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("name a LOG, or pipe one in: a gate looks for no log by itself")


def newest() -> Path:
    """Return the newest log of this folder, and say on stderr which it is. Raises InputError when there is none."""
    log = newest_log(Path())
    warn(f"reading {log}, the newest log of this folder")
    return log
