"""Keeps files that keval did not write from being written over, under whatever name they are given.

A file is compared by what it is (device and inode), so a link, a relative path and `/dev/fd/3` are
all the file that they lead to. A file that keval may write to is new, empty, or begins as the same
kind of output that is about to take its place.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from keval.errors import EnvironmentLacksError, ReaderGoneError, UsageError
from keval.logs.foreign import described
from keval.logs.log_head import HEAD_BYTES, begins_as_log
from keval.logs.on_disk import sync, sync_folder
from keval.logs.standard_streams import STDERR_FD, STDIN_FD, STDOUT_FD

STDIN = Path("-")
"""How a command line names stdin among its files."""


@contextmanager
def replaced(output: Path, inputs: Sequence[Path], is_own: Callable[[bytes], bool]) -> Iterator[Path]:
    """Yield a temporary path whose file takes the place of `output` at the end of the block.

    Whoever reads `output` sees the old file or the whole new one. A link stays a link: what it leads
    to is replaced. What is no regular file (`/dev/stdout`, a pipe) is written to instead.

    `inputs` are what the command reads, `-` for stdin; `is_own` is given the first bytes of a file
    and says whether it is an earlier output of the same kind. Raises UsageError before the block
    begins if `output` is one of the inputs, a log or another kind of file; EnvironmentLacksError if
    it cannot be written.
    """
    check_output(output, inputs, is_own)
    with _as_lacking(output):
        target = _target(output)
        place = Path(tempfile.gettempdir()) / output.name if target is None else target
        _remove_abandoned(place)
        temporary, lock = _created(place)
    try:
        with _as_lacking(output):
            yield temporary
            if target is None:
                _write_into(temporary, output)
            else:
                check_output(output, inputs, is_own)
                _put(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
        os.close(lock)


def check_output(output: Path, inputs: Sequence[Path], is_own: Callable[[bytes], bool]) -> None:
    """Raise UsageError if a file is not one that may be replaced by another output of a kind."""
    if output == STDIN:
        raise UsageError("-o -: - names stdin, and no file; -o /dev/stdout writes to stdout")
    check_no_input(output, inputs)
    found = _found(output)
    if found is None or not found.st_size or not stat.S_ISREG(found.st_mode):
        if found is not None and stat.S_ISDIR(found.st_mode):
            raise UsageError(f"{output} is a folder; name a file in it, such as -o {output / 'report.md'}")
        return
    with _as_lacking(output), _opened(output).open("rb") as opened:
        if begins_as_log(opened.fileno()):
            raise UsageError(f"{output} is a keval log, which no command replaces; name another file with -o")
        head = os.pread(opened.fileno(), HEAD_BYTES, 0)
    if _own_descriptor(output) is None and not is_own(head):
        raise UsageError(
            f"{output} exists and is not an earlier output of this kind: it holds {described(head)};"
            " name another file with -o, or remove this one"
        )


def check_no_input(output: Path, inputs: Sequence[Path]) -> None:
    """Raise UsageError if a file that is to be written to is one of the inputs, under any of its names."""
    name = same_input(output, inputs)
    if name is not None:
        named = f"{output} is" if name == str(output) else f"{output} is the same file as {name},"
        raise UsageError(f"{named} an input of this command, which it never writes to; name another file with -o")


def same_input(path: Path, inputs: Sequence[Path]) -> str | None:
    """Return what a message calls the input that a file is under any of its names, or None if it is none of them."""
    return _same_input(_found(path), inputs)


def check_stdout(inputs: Sequence[Path], instead: str) -> None:
    """Raise UsageError if stdout leads into one of the inputs, as `>> run.jsonl` does; `instead` says what to type.

    So does stderr: what is told there would stand in the input.
    """
    for stream, descriptor in (("stdout", sys.stdout.fileno()), ("stderr", STDERR_FD)):
        name = _same_input(_fstat(descriptor), inputs)
        if name is not None:
            raise UsageError(
                f"{stream} leads into {name}, an input of this command, which it never writes to; {instead}"
            )


def _same_input(found: os.stat_result | None, inputs: Sequence[Path]) -> str | None:
    """Return what a message calls the input that a file is, or None if it is none of them."""
    for path in inputs:
        if found is not None and _is_same(found, _fstat(STDIN_FD) if path == STDIN else _found(path)):
            return "stdin" if path == STDIN else str(path)
    return None


def _found(path: Path) -> os.stat_result | None:
    """Return what a path leads to, or None if there is nothing yet."""
    try:
        return _opened(path).stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EnvironmentLacksError(f"{path}: {error.strerror}") from error


def is_stream(path: Path) -> bool:
    """Return whether a path means stdout or stderr."""
    descriptor = _own_descriptor(path)
    return descriptor is not None and descriptor in {sys.stdout.fileno(), STDERR_FD}


def _opened(path: Path) -> Path:
    """Return by which path the system opens what a path means."""
    descriptor = _own_descriptor(path)
    return path if descriptor is None else Path(f"/dev/fd/{descriptor}")


def _fstat(descriptor: int) -> os.stat_result | None:
    try:
        return os.fstat(descriptor)
    except OSError:  # closed, as `<&-` does
        return None


def _is_same(found: os.stat_result, other: os.stat_result | None) -> bool:
    """Return whether two names are of one file; that a terminal or `/dev/null` is read and written is no mistake."""
    return other is not None and stat.S_ISREG(found.st_mode) and os.path.samestat(found, other)


def _target(output: Path) -> Path | None:
    """Return the path of the file to be replaced, all links followed; None if it is to be written to instead."""
    if _own_descriptor(output) is not None:
        return None
    found = _found(output)
    return Path(os.path.realpath(output)) if found is None or stat.S_ISREG(found.st_mode) else None


def _own_descriptor(output: Path) -> int | None:
    """Return the number of the open file that a path such as `/dev/stdout` or `/dev/fd/3` stands for.

    Number 1 means stdout, which `outlive` has given another number.
    """
    path = output
    for _ in range(40):  # as many links as Linux follows
        path = Path(os.path.realpath(path.parent)) / path.name
        if str(path.parent) in {f"/proc/{os.getpid()}/fd", "/dev/fd"} and path.name.isdigit():
            number = int(path.name)
            return sys.stdout.fileno() if number == STDOUT_FD else number
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None


def _created(target: Path) -> tuple[Path, int]:
    """Create a file beside another one, with the rights that a new file gets there, and lock it."""
    while True:
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.tmp")
        lock = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # where nothing can be locked nobody takes it for abandoned, either
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_nlink:
            return temporary, lock
        os.close(lock)  # somebody took it for abandoned before it was locked


def _remove_abandoned(target: Path) -> None:
    """Remove what commands left that were killed while they wrote the same output: nobody holds its lock."""
    for left in target.parent.glob(f"{_prefix(target)}*.tmp"):
        with suppress(OSError):  # it is in use, or somebody else's, or has taken its place by now
            descriptor = os.open(left, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(descriptor)


def _prefix(target: Path) -> str:
    """Return how the names of an output's temporary files begin; a name as long as the output's may be too long."""
    return f".keval-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def _put(temporary: Path, target: Path) -> None:
    """Put a file in the place of another, whose rights it gets."""
    with suppress(FileNotFoundError):
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    sync(temporary)
    temporary.replace(target)
    sync_folder(target.parent)


def _write_into(temporary: Path, output: Path) -> None:
    """Write a file's bytes to what cannot be replaced."""
    descriptor = _own_descriptor(output)
    # A descriptor of our own keeps its place in the file: what the shell writes afterwards comes after.
    opened = os.open(output, os.O_WRONLY | os.O_CLOEXEC) if descriptor is None else os.dup(descriptor)
    with temporary.open("rb") as source, os.fdopen(opened, "wb") as sink:
        shutil.copyfileobj(source, sink)


@contextmanager
def _as_lacking(output: Path) -> Iterator[None]:
    """Tell what the system refuses as a message about the output."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError(f"the reader of {output} has left") from error
    except OSError as error:
        raise EnvironmentLacksError(f"{output}: {error.strerror}") from error
