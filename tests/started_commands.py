"""Commands of keval that a test looks at while they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from keval.mock import Mock
from tests.fork_server import ForkServer
from tests.forked_command import Command

Start = Callable[..., Command]
"""Starts a command with these arguments, which asks a mock."""


@contextmanager
def starting(server: ForkServer, folder: Path) -> Iterator[Start]:
    """Give a function that starts commands in a folder, and end at last what it started."""
    started: list[Command] = []

    def start(mock: Mock, *arguments: str) -> Command:
        started.append(server.start(arguments, folder, {**os.environ, **mock.env}))
        return started[-1]

    try:
        yield start
    finally:
        for command in started:
            command.kill()
            command.close()


def ended(command: Command, code: int = 0) -> str:
    """Wait for a command and return what it said."""
    _, said = command.communicate(timeout=120)
    assert command.returncode == code, said
    return said
