"""A command that was forked: what tests use of a `subprocess.Popen` with text pipes."""

from __future__ import annotations

import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from threading import Thread

PATIENCE_S = 120
"""For so long a command may run, at most."""

NUMBER = 8
"""Bytes of a process id as it is told, and at most of an exit code: both may come at once."""

PIECE = 2**16


class Command:
    """A process with pipes for its streams, and one on which its parent tells its id and then its exit code."""

    def __init__(self, arguments: Sequence[str], streams: Sequence[int], ending: int) -> None:
        self.args = arguments
        self.returncode: int | None = None
        stdin, stdout, stderr = streams
        self._stdin = FileIO(stdin, "wb")
        self._stdout, self._stderr, self._ending = (FileIO(each, "rb") for each in (stdout, stderr, ending))
        self.pid = int(self._ending.read(NUMBER) or 0)

    def poll(self) -> int | None:
        """Return the exit code, minus the signal that killed it, or None as long as it runs."""
        self._wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, given: str = "", timeout: float = PATIENCE_S) -> tuple[str, str]:
        """Write what is given, read what comes until nobody writes any more, and wait; return stdout and stderr.

        Raises TimeoutExpired, and has killed the command then.
        """
        end = time.monotonic() + timeout
        said: dict[FileIO, bytearray] = {self._stdout: bytearray(), self._stderr: bytearray()}
        writing = Thread(target=self._write, args=[given.encode()], daemon=True)
        writing.start()
        with selectors.DefaultSelector() as reading:
            for stream in said:
                reading.register(stream, selectors.EVENT_READ)
            while reading.get_map() and (ready := reading.select(max(end - time.monotonic(), 0))):
                for stream in (stream for stream in said if stream in {key.fileobj for key, _ in ready}):
                    piece = stream.read(PIECE) or b""
                    said[stream] += piece
                    if not piece:
                        reading.unregister(stream)
            is_late = bool(reading.get_map())
        self._wait(max(end - time.monotonic(), 0))
        if is_late := is_late or self.returncode is None:
            self.kill()
            self._wait(PATIENCE_S)
        writing.join()
        self.close()
        if is_late:
            raise subprocess.TimeoutExpired(self.args, timeout)
        out, err = (said[stream].decode().replace("\r\n", "\n") for stream in said)
        return out, err

    def close(self) -> None:
        """Close the pipes; a command that runs meets a closed one."""
        for stream in (self._stdin, self._stdout, self._stderr, self._ending):
            stream.close()

    def _write(self, given: bytes) -> None:
        rest = memoryview(given)
        with self._stdin, suppress(BrokenPipeError):
            while rest:
                rest = rest[self._stdin.write(rest) :]

    def _wait(self, timeout: float) -> None:
        if self.returncode is None and select.select([self._ending], [], [], timeout)[0]:
            self.returncode = int(self._ending.read(NUMBER) or 0)
