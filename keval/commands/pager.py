"""Shows long output page by page on a terminal; elsewhere it is only written."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO


@dataclass(frozen=True, slots=True)
class Terminal:
    """What stdout can do."""

    width: int
    color: bool
    """Whether it understands escape codes, and nobody asked for none (NO_COLOR)."""


def terminal() -> Terminal | None:
    """Return the terminal that stdout is, None if it is a file or a pipe."""
    if not sys.stdout.isatty():
        return None
    shown_on = os.get_terminal_size(sys.stdout.fileno())  # of the others Python asks itself
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in {None, "", "dumb"}
    return Terminal(shutil.get_terminal_size(shown_on).columns, not plain)


@contextmanager
def paged() -> Iterator[IO[str]]:
    """Give where to write text: on a terminal a pager ($PAGER, else less), else stdout.

    Who leaves the pager early has seen enough: that is no error.
    """
    found = terminal()
    command = [] if found is None or not found.color else _pager()
    if not command:
        yield sys.stdout
        sys.stdout.flush()
        return
    # Not stdout by number: keval's own stdout has another one, see keval/logs/standard_streams.py.
    environment = {"LESS": "FRX", **os.environ}
    with subprocess.Popen(  # noqa: S603 - the program that the user chose to read with
        command, stdin=subprocess.PIPE, stdout=sys.stdout.fileno(), env=environment, text=True, encoding="utf-8"
    ) as pager:
        assert pager.stdin is not None  # noqa: S101 - a pipe was asked for
        with suppress(BrokenPipeError):
            yield pager.stdin
        with suppress(BrokenPipeError):
            pager.stdin.close()
        _wait(pager)


def _pager() -> list[str]:
    """Return the command of the pager; nothing where there is none, or $PAGER is no command."""
    try:
        command = shlex.split(os.environ.get("PAGER", "")) or ["less"]
    except ValueError:  # a quote that is left open
        return []
    return command if shutil.which(command[0]) else []


def _wait(pager: subprocess.Popen[str]) -> None:
    """Wait until the pager is left; Ctrl-C is the pager's, not ours."""
    while True:
        with suppress(KeyboardInterrupt):
            pager.wait()
            return
