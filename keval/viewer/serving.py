"""Serves the pages of logs on loopback until somebody ends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from starlette.types import ASGIApp

from keval.errors import EnvironmentLacksError, Warn
from keval.processes.loopback_server import ServerThread
from keval.viewer.access import entrance
from keval.viewer.application import application, new_token
from keval.viewer.labelling import Labelling
from keval.viewer.snapshot import Snapshots


@contextmanager
def served(  # noqa: PLR0913 - what a person may ask for
    logs: Sequence[Path],
    warn: Warn,
    *,
    port: int,
    page: str,
    skip_invalid: bool,
    labelling: Labelling | None = None,
) -> Iterator[str]:
    """Serve logs while entered, on a port, of which 0 is any free one; give the address that opens a page once.

    Raises InputError for what is no log, and EnvironmentLacksError for a port that is taken.
    """
    snapshots = Snapshots(logs, warn, skip_invalid=skip_invalid)
    try:
        token = new_token()
        server = _started(application(snapshots, token, warn, labelling), port)
        try:
            yield entrance(server.url, page, token)
        finally:
            server.stop()
    finally:
        snapshots.close()


def _started(app: ASGIApp, port: int) -> ServerThread:
    try:
        return ServerThread(app, port)
    except OSError as error:
        raise EnvironmentLacksError(f"port {port}: {error.strerror}; --port 0 takes a free one") from error


def wait_until_stopped() -> None:
    """Wait for Ctrl-C, SIGTERM, or the end of the terminal."""
    stopped = threading.Event()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as `nohup` wants it
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in numbers}
    try:
        stopped.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
