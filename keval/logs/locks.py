"""Locks a log by what it is, not by its name: the same file through a link or under a new name is held, too.

The locks are on single bytes of the log itself, far behind any byte that it has, and belong to the
open file: one for the moment of a write, and one for each stage that a command holds until it
ends. The kernel lets go of them when the process dies, and no child process inherits them.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from keval.errors import EnvironmentLacksError, UsageError, Warn

_BYTES = {"write": 1 << 62, "generate": (1 << 62) + 1, "judge": (1 << 62) + 2, "aggregate": (1 << 62) + 3}
"""Which byte stands for what; a lock may lie behind the end of a file."""

_STAGES = tuple(name for name in _BYTES if name != "write")

_WAIT, _TRY = fcntl.LOCK_EX, fcntl.LOCK_EX | fcntl.LOCK_NB

SILENT_S = 1.0
"""How long a command waits for another one's write without a word."""

_NAME = re.compile("[a-z][a-z-]*")
"""What a command of keval's is called."""

_SET = getattr(fcntl, "F_OFD_SETLK", None)
"""Python knows these locks on Linux alone; elsewhere files of the system's temporary folder stand for them."""


@contextmanager
def writing(descriptor: int, path: Path, warn: Warn) -> Iterator[None]:
    """Wait until nobody else writes to an open log, and keep others from it.

    Who it is, is said when it takes long: `closed` may hold a log for minutes. Raises EnvironmentLacksError where the
    file system has no locks.
    """
    try:
        try:
            _lock_write(descriptor, _TRY)
        except (BlockingIOError, PermissionError):
            with _told_late(descriptor, path, warn):
                _lock_write(descriptor, _WAIT)
    except OSError as error:
        raise _refused(path, error, "two commands from paying for the same answers") from error
    try:
        yield
    finally:
        with suppress(OSError):  # a file that is stale or closed has no lock any more
            _lock_write(descriptor, fcntl.LOCK_UN)


def _lock_write(descriptor: int, how: int) -> None:
    """Take the lock of a write, or give it back; `how` is as `flock` has it."""
    if _SET is None:
        fcntl.flock(descriptor, how)
    else:
        kind = fcntl.F_UNLCK if how == fcntl.LOCK_UN else fcntl.F_WRLCK
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW if how == _WAIT else _SET, _lock("write", kind))


@contextmanager
def _told_late(descriptor: int, path: Path, warn: Warn) -> Iterator[None]:
    """Say who holds a log that somebody waits for, unless the wait is over soon."""

    def tell() -> None:
        with suppress(OSError):  # the log is closed by now
            taken = _taken(path, _holder(descriptor, "write"))
            if not late.finished.is_set():  # to find the holder takes time
                warn(f"{taken}; waiting until it is done")

    late = threading.Timer(SILENT_S, tell)
    late.daemon = True
    with suppress(RuntimeError):  # no thread to be had: it is waited for without a word
        late.start()
    try:
        yield
    finally:
        late.cancel()


@contextmanager
def held(descriptor: int, path: Path, stage: str) -> Iterator[None]:
    """Be the only one who does a stage for an open log, until the block ends.

    Raises UsageError with the process id of whoever does it already.
    """
    if _SET is None:
        with _held_beside(descriptor, path, stage):
            yield
        return
    try:
        fcntl.fcntl(descriptor, _SET, _lock(stage, fcntl.F_WRLCK))
    except (BlockingIOError, PermissionError):
        raise _taken(path, _holder(descriptor, stage)) from None
    try:
        yield
    finally:
        with suppress(OSError):  # as above
            fcntl.fcntl(descriptor, _SET, _lock(stage, fcntl.F_UNLCK))


@contextmanager
def closed(descriptor: int, path: Path) -> Iterator[None]:
    """Keep an open log, which may be open to read only, as it is until the block ends: nobody does a stage, or writes.

    Others may do the same meanwhile. Raises UsageError with the process id of whoever does a stage, and
    EnvironmentLacksError as `writing`.
    """
    with ExitStack() as taken:
        if _SET is None:
            for stage in _STAGES:
                taken.enter_context(_held_beside(descriptor, path, stage))
        else:
            try:
                _lock_reads(descriptor, _SET, path, taken)
            except OSError as error:
                raise _refused(path, error, "others from writing to it meanwhile") from error
        yield


def _lock_reads(descriptor: int, command: int, path: Path, taken: ExitStack) -> None:
    """Take the locks of `closed`, and let `taken` give them back."""
    for stage in _STAGES:
        try:
            fcntl.fcntl(descriptor, command, _lock(stage, fcntl.F_RDLCK))
        except (BlockingIOError, PermissionError):
            raise _taken(path, _holder(descriptor, stage)) from None
        taken.callback(fcntl.fcntl, descriptor, command, _lock(stage, fcntl.F_UNLCK))
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, _lock("write", fcntl.F_RDLCK))
    taken.callback(fcntl.fcntl, descriptor, command, _lock("write", fcntl.F_UNLCK))


def _refused(path: Path, error: OSError, danger: str) -> EnvironmentLacksError:
    return EnvironmentLacksError(
        f"{path}: the file system refuses a lock ({error.strerror}), so nothing would keep {danger}; put the log on a "
        "local disk"
    )


def _lock(name: str, kind: int) -> bytes:
    """Return the system's `struct flock` for one byte; locks of an open file have no process id."""
    return struct.pack("@hhqqi4x", kind, os.SEEK_SET, _BYTES[name], 1, 0)


def _taken(path: Path, pid: str | None) -> UsageError:
    command = _command_of(pid)
    who = "another command" if command is None else f"keval {command}"
    does = "copying" if command == "push" else "writing to"
    return UsageError(f"{path}: {who} is already {does} this log (pid {pid or 'unknown'})")


def _command_of(pid: str | None) -> str | None:
    """Return which of keval's commands a process runs, such as `run`, as far as the system lets us see."""
    if not pid:
        return None
    try:
        words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended meanwhile, or the system has no such folder
        return None
    return command_in([os.fsdecode(word) for word in words])


def command_in(words: Sequence[str]) -> str | None:
    """Return the command of a command line that starts keval, as a script or by `python -m keval`; None for another."""
    for place, word in enumerate(words[:-1]):
        following = words[place + 1]
        # The interpreter's own options come before, the arguments of the command after.
        if Path(word).name == "keval" and _NAME.fullmatch(following):
            return following
        if place and not word.startswith("-") and words[place - 1] != "-m":
            return None
    return None


def _holder(descriptor: int, stage: str) -> str | None:
    """Return the id of the process that holds a stage's byte of this file, as far as the system lets us see."""
    log = os.fstat(descriptor)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile, or is of another user
            if any(_has_lock(opened, log, stage) for opened in (process / "fd").iterdir()):
                return process.name
    return None


def _has_lock(opened: Path, log: os.stat_result, stage: str) -> bool:
    """Return whether an open file of a process, by its path in /proc, is the log and holds a stage."""
    try:
        if not os.path.samestat(log, opened.stat()):
            return False
        told = (opened.parent.parent / "fdinfo" / opened.name).read_text(encoding="ascii")
    except OSError:  # it was closed meanwhile
        return False
    return any(_is_lock(line.split(), stage) for line in told.splitlines())


def _is_lock(words: list[str], stage: str) -> bool:
    """Return whether a line of `fdinfo` is about a stage: `lock: 1: OFDLCK ADVISORY WRITE -1 08:01:12 START END`.

    The kernel shows neighbouring bytes that one process holds as one lock.
    """
    if words[:1] != ["lock:"] or "OFDLCK" not in words or not (words[-2] + words[-1]).isdigit():
        return False
    return int(words[-2]) <= _BYTES[stage] <= int(words[-1])


@contextmanager
def _held_beside(descriptor: int, path: Path, stage: str) -> Iterator[None]:
    """Hold a file that stands for the log's stage: it is named after the log's inode, not after its path."""
    log = os.fstat(descriptor)
    lock = Path(tempfile.gettempdir()) / f"keval-{log.st_dev}-{log.st_ino}.{stage}.lock"
    opened = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _taken(path, os.pread(opened, 32, 0).decode().strip()) from None
        os.ftruncate(opened, 0)
        os.write(opened, f"{os.getpid()}\n".encode())
        yield
    finally:
        # The file stays: to remove it while others wait for it would let two of them in.
        os.close(opened)
