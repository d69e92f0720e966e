"""Runs a program once, under limits; when it ends, or its caller does, all that it started is ended too.

Agents and judges that are programs, or that start one, do it here. A program runs in a session of its own, in a
folder and with an environment that the caller gives it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from keval.processes import machine, tree

ROOM = 64 * 1024
"""Bytes for which there has to be room before a program is started: it may cost money."""

LONGEST_FIRST_LINE = 4096
"""Bytes of a script that are read to see which program it is for."""

LOOK_EVERY_S = 0.1
"""How often a running program's output is looked at: whether it grows, and is not too long."""

TEMPORARY_FAILURE = 75
"""The exit status `EX_TEMPFAIL` of sysexits.h: what failed may well succeed later."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use."""

    output_bytes: int
    """Of stdout, and as many of stderr."""
    seconds: float | None = None
    """None: its caller watches the time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a program that could be started."""

    exit_status: int
    """As the program gave it; a negative one is the number of the signal that ended it."""
    stdout: bytes
    stderr: bytes
    exceeded: Literal["seconds", "output_bytes"] | None = None
    """The limit for which the program was ended; what it wrote until then is there."""
    orphaned_processes: tuple[str, ...] = ()
    """Names of processes that were still there when the program had ended, and had to be ended."""

    @property
    def how(self) -> str:
        """Its exit status, or the signal that ended it, in words."""
        return how_ended(self.exit_status)


def how_ended(exit_status: int) -> str:
    """Return in words how a program ended; real-time signals have numbers only."""
    if exit_status >= 0:
        return f"exit status {exit_status}"
    try:
        return f"ended by {signal.Signals(-exit_status).name}"
    except ValueError:
        return f"ended by signal {-exit_status}"


class ProgramError(Exception):
    """A program could not be started, or had no room for its output.

    `of_machine` says that the machine is at fault, and the same call may succeed later.
    """

    def __init__(self, message: str, *, of_machine: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.of_machine = of_machine


async def run(  # noqa: PLR0913 - what a program is started with, all by name
    command: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str],
    limits: Limits,
    stdin: bytes = b"",
    relative_to: Path | None = None,
    on_output: Callable[[], None] = lambda: None,
    on_end: Callable[[tuple[str, ...]], None] = lambda _: None,
) -> Ended:
    """Run a program in `folder` with no more than `env` as its environment.

    A program with a `/` in its name is looked for from `relative_to` (default: `folder`). `on_output` is called
    whenever the output has grown; `on_end` gets the names of the processes that were left behind, also when the
    call is cancelled or fails. Cancelling the call ends every process that it started. Raises ProgramError.
    """
    token = tree.new_token()
    # Files, not pipes: a program need not read its input, and a daemon that it leaves behind
    # with our end of a pipe in its hands cannot keep us waiting.
    with _stream(stdin) as given, _stream() as stdout, _stream() as stderr:
        process: asyncio.subprocess.Process | None = None
        orphans: tuple[str, ...] = ()
        try:
            _check_space(stdout, ROOM)  # before anything is paid for
            marked = {**env, tree.TOKEN: token}
            process = await _start(command, folder, relative_to or folder, marked, (given, stdout, stderr))
            exceeded = await _watch(process, limits, (stdout, stderr), on_output)
        finally:
            orphans = await tree.to_the_end(_end(token, process))
            on_end(orphans)
        # A write that was refused ends where not one byte more has room.
        _check_space(stdout, 1)
        said, complained = (_beginning(stream, limits.output_bytes) for stream in (stdout, stderr))
    return Ended(await process.wait(), said, complained, exceeded, orphans)


async def _start(
    command: Sequence[str],
    folder: Path,
    relative_to: Path,
    env: Mapping[str, str],
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
) -> asyncio.subprocess.Process:
    program, *arguments = command
    stdin, stdout, stderr = streams
    try:
        process = await asyncio.create_subprocess_exec(
            located(program, relative_to, env),
            *arguments,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env=env,
            start_new_session=True,
        )
    except OSError as error:
        # What the caller fills in may be longer than an argument may be: that is not the machine's fault.
        said = f"cannot start {program!r}: {error.strerror or error}"
        raise ProgramError(said, of_machine=error.errno != errno.E2BIG) from error
    except ValueError as error:  # a null character in an argument
        raise ProgramError(f"cannot start {program!r}: {error}") from error
    machine.give_own_limit(process.pid)
    return process


async def _watch(
    process: asyncio.subprocess.Process,
    limits: Limits,
    output: tuple[IO[bytes], IO[bytes]],
    on_output: Callable[[], None],
) -> Literal["seconds", "output_bytes"] | None:
    """Wait until the program ends or is over a limit, and return which one."""
    ending = asyncio.ensure_future(process.wait())
    began, seen = time.monotonic(), 0
    try:
        while not ending.done():
            await asyncio.wait({ending}, timeout=_until_next_look(began, limits.seconds))
            written = [os.fstat(stream.fileno()).st_size for stream in output]
            if max(written) > limits.output_bytes:
                return "output_bytes"
            if sum(written) > seen:
                seen = sum(written)
                on_output()
            if not ending.done() and limits.seconds is not None and time.monotonic() - began >= limits.seconds:
                return "seconds"
    finally:
        ending.cancel()
    return None


def _until_next_look(began: float, seconds: float | None) -> float:
    if seconds is None:
        return LOOK_EVERY_S
    return min(LOOK_EVERY_S, max(0.0, began + seconds - time.monotonic()))


async def _end(token: str, program: asyncio.subprocess.Process | None) -> tuple[str, ...]:
    """End what is left of the program and of what it started, and return the names of the latter."""
    if program is None:
        return tuple(await tree.end_tree(token))
    if program.returncode is None:
        await tree.end_first(token, program.pid)
    orphans = await tree.end_tree(token, program.pid)
    if not has_ended(program.pid):  # it is dead, but where nobody could look at it
        with suppress(ProcessLookupError):
            program.kill()
    await program.wait()  # this takes note of its exit status
    return tuple(orphans)


def has_ended(pid: int) -> bool:
    """Return whether a child has ended, and leave its exit status to asyncio, which else reports the loss of it."""
    if not hasattr(os, "waitid"):  # macOS, before Python 3.13
        return False
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def located(program: str, folder: Path, env: Mapping[str, str]) -> str:
    """Return where a program is: a path is relative to a folder, a bare name stands in the path of `env`.

    What is not found is returned as it is.
    """
    if "/" in program:
        return str((folder / program).absolute())
    found = shutil.which(program, path=env.get("PATH", os.defpath))
    return program if found is None else str(Path(found).absolute())


def not_startable(program: str, folder: Path, env: Mapping[str, str]) -> str | None:
    """Return why a program cannot be started, with the path that was tried, or None."""
    path = Path(located(program, folder, env))
    if not path.is_absolute():
        return f"no program {program!r} in the path that agents and judges have ({env.get('PATH', os.defpath)})"
    problem = _no_program(path)
    if problem is not None:
        hint = "" if Path(program).is_absolute() else "; a path is relative to the config's folder"
        return f"cannot start {program!r}: {path} {problem}{hint}"
    problem = _no_script(path)
    return problem and f"cannot start {program!r}: {path} {problem}"


def _no_program(path: Path) -> str | None:
    if not path.exists():
        return "does not exist"
    if path.is_dir():
        return "is a folder"
    return None if os.access(path, os.X_OK) else "is not executable"


def _no_script(path: Path) -> str | None:
    """Return why the system starts no such script, None for one that it starts, and for what is no script."""
    try:
        with path.open("rb") as file:
            beginning = file.read(LONGEST_FIRST_LINE)
    except OSError:
        return None  # who may not read a program may still start it
    if b"\0" in beginning:
        return None
    first = beginning.partition(b"\n")[0]
    words = first.removeprefix(b"#!").split() if first.startswith(b"#!") else []
    if not words:
        return "is a script whose first line names no program for it, as #!/bin/sh does"
    if first.endswith(b"\r"):
        return "has Windows line ends, so its first line names a program that nobody finds; save it with Unix ones"
    interpreter = Path(os.fsdecode(words[0]))
    problem = _no_program(interpreter)
    return problem and f"is a script for {interpreter}, which {problem}"


@contextmanager
def _stream(content: bytes = b"") -> Iterator[IO[bytes]]:
    """Open a file without a name, which is gone when closed."""
    with tempfile.TemporaryFile() as stream:
        stream.write(content)
        stream.seek(0)
        yield stream


def _check_space(stream: IO[bytes], room: int) -> None:
    """Raise ProgramError when there is no space for so many bytes more."""
    end = stream.seek(0, os.SEEK_END)
    try:
        if os.pwrite(stream.fileno(), bytes(room), end) < room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - what the next write would raise
        os.ftruncate(stream.fileno(), end)
    except OSError as error:
        said = f"no room in {tempfile.gettempdir()} for what the program writes: {error.strerror}"
        raise ProgramError(said, of_machine=True) from error


def _beginning(stream: IO[bytes], most: int) -> bytes:
    stream.seek(0)
    return stream.read(most)
