"""A process that has imported what commands of keval import, and forks each command that a test starts.

Most of the time of a short command goes to importing the SDKs; see docs/decisions/0109-tests-fork-commands.md. All else
of a forked command is as of one that was started: its own process, folder, environment, streams, signals and end.
"""

from __future__ import annotations

import importlib
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from tests.forked_command import NUMBER, Command

ROOT = Path(__file__).parent.parent

IMPORTED = ("anthropic", "claude_agent_sdk", "duckdb", "mcp", "numpy")
"""What takes long to import; and what each command imports when it is called."""

GIVEN = 5
"""What comes with a request: a file that says what is asked, three streams, and the pipe on which the end is told."""

OF_PYTHON = ("PYTHON", "LC_", "LANG")
"""How variables begin by which Python decides at its start how it works."""


class ForkServer:
    """Starts the process that forks, and asks it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], cwd=ROOT, env=self._environment,
            )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._requests.close()
        self._process.wait()

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        given: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, and return its outcome. Raises TimeoutExpired."""
        command = self.start(arguments, folder, environment)
        out, err = command.communicate(given)
        return subprocess.CompletedProcess(arguments, command.returncode or 0, out, err)

    def start(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Command:
        """Start a command of keval, with pipes for its three streams."""
        assert self._of_python(environment) == self._of_python(self._environment), "start this as a process of its own"
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment)}
        with ExitStack() as theirs, tempfile.TemporaryFile() as file:
            file.write(json.dumps(request).encode("utf-8", "surrogatepass"))
            file.flush()
            ours, given = zip(_pipe(theirs, reads=True), *(_pipe(theirs, reads=False) for _ in range(3)), strict=True)
            socket.send_fds(self._requests, [b"?"], [file.fileno(), *given])
        *streams, ending = ours
        return Command(arguments, streams, ending)

    def _of_python(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in environment.items() if name.startswith(OF_PYTHON)}


def _pipe(given: ExitStack, *, reads: bool) -> tuple[int, int]:
    """Return our end of a pipe and the other one, which reads or writes, and is closed when it was given."""
    read, write = os.pipe()
    ours, theirs = (write, read) if reads else (read, write)
    given.callback(os.close, theirs)
    return ours, theirs


def _serve(requests: socket.socket) -> list[int] | None:
    """Fork for each request, and tell how it ended, until nobody asks any more; return what a fork was given."""
    with requests, selectors.DefaultSelector() as waiting:
        waiting.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.data is not None:
                    waiting.unregister(key.fd)
                    _tell_end(key.fd, *key.data)
                elif not (given := socket.recv_fds(requests, 1, GIVEN)[1]):
                    return None
                elif (pid := os.fork()) == 0:
                    _close_of_others(waiting)
                    return given
                else:
                    *closed, ending = given
                    for each in closed:
                        os.close(each)
                    _tell(ending, pid)
                    waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, ending))


def _tell_end(watched: int, pid: int, ending: int) -> None:
    """Tell how a fork has ended, which was watched until then."""
    _tell(ending, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os.close(ending)
    os.close(watched)


def _tell(ending: int, number: int) -> None:
    with suppress(BrokenPipeError):  # who has asked wants to know no more
        os.write(ending, b"%*d" % (NUMBER, number))


def _close_of_others(waiting: selectors.BaseSelector) -> None:
    """Close in a fork by what the ends of other forks are seen and told."""
    for key in waiting.get_map().values():
        if key.data is not None:
            os.close(key.fd)
            os.close(key.data[1])


def _become(request: int, streams: Sequence[int]) -> NoReturn:
    """Do in a fork what Python does at its start, and run the command."""
    from keval.__main__ import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as stdin
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - as stdin
    with open(request, "rb") as file:
        file.seek(0)
        asked = json.loads(file.read().decode("utf-8", "surrogatepass"))
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv[1:] = asked["arguments"]
    sys.path[0] = asked["folder"]
    main()
    sys.exit()


def _import_all() -> None:
    """Import what takes long, and what a command imports when it is called."""
    from keval.cli import COMMANDS

    for name in (*IMPORTED, *(f"keval.commands.{command.replace('-', '_')}" for command in COMMANDS)):
        importlib.import_module(name)


if __name__ == "__main__":
    _import_all()
    if (given := _serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        request, *streams, ending = given
        os.close(ending)
        _become(request, streams)
