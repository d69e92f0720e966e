"""Commands of keval that a test looks at while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.fork_server import ForkServer
from tests.forked_command import Command

Start = Callable[..., Command]
"""Starts a command: what comes first tells its environment, the rest are its arguments."""


@contextmanager
def starting(server: ForkServer, folder: Path) -> Iterator[Start]:
    """Give a function that starts commands in a folder, with an environment, and end at last what it started."""
    started: list[Command] = []

    def start(environment: Mapping[str, str], *arguments: str) -> Command:
        started.append(server.start(arguments, folder, environment))
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
