"""Runs a server of this folder over HTTP for as long as a test needs it."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HERE = Path(__file__).parent

NEVER_GIVEN = range(20_000, 32_768)
"""Ports below those that a system gives to who asks for any."""


@contextmanager
def over_http(script: str, folder: Path, *arguments: str, **env: str) -> Iterator[int]:
    """Run a server in a folder and yield its port; a daemon that it forks is the test's own to end."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, str(HERE / script), str(port), *arguments],
        cwd=folder, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not is_served(port):
            assert server.poll() is None, f"{script} has ended"
            time.sleep(0.05)
        yield port
    finally:
        server.kill()
        server.wait()


def free_port() -> int:
    """Return a port that nobody is given until the server has started: another test's own may be one of any port."""
    while True:
        port = random.choice(NEVER_GIVEN)  # noqa: S311 - nothing secret
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def is_served(port: int) -> bool:
    """Return whether anybody listens at a port."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def has_gone(port: int, within_s: float = 20) -> bool:
    """Return whether nobody listens at a port any more, soon after its server was killed."""
    until = time.monotonic() + within_s
    while is_served(port) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_served(port)
