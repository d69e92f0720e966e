"""Starts commands of keval that a test looks at while they run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from keval.mock import Mock

Start = Callable[..., "subprocess.Popen[str]"]
"""Starts a command with these arguments, which asks a mock."""


@contextmanager
def starting(folder: Path) -> Iterator[Start]:
    """Give a function that starts commands in a folder, and end at last what it started."""
    started: list[subprocess.Popen[str]] = []

    def start(mock: Mock, *arguments: str) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(
            [sys.executable, "-m", "keval", *arguments], env={**os.environ, **mock.env}, cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ))  # fmt: skip
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def ended(process: subprocess.Popen[str], status: int = 0) -> str:
    """Wait for a command and return what it said."""
    _, said = process.communicate(timeout=120)
    assert process.returncode == status, said
    return said
