"""Temporary folders: removing one ends no run, and what a killed command left is removed by the next one.

A folder is locked by the process that made it. The kernel lets go of the lock when that process
dies, however it dies, so a folder that can be locked by somebody else is abandoned.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import secrets
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import count
from pathlib import Path

from keval.errors import EnvironmentLacksError

PREFIX = "kvtask-"
"""How the names of all folders begin: no other program's do, and they tell an agent nothing."""

SWEEP_S = 5.0
"""How long a command waits for the removal of what others have left; after that it goes on meanwhile."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says of a file that cannot become any larger."""

UNLOCKABLE = frozenset({errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""What file systems say that cannot lock a folder; NFS wants to write to what it locks, which no folder allows."""

INTO = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is opened, and nothing else."""

Remove = Callable[[], None]
"""Removes a folder, and never raises."""

_log = logging.getLogger(__name__)


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for as long as this is entered. Raises EnvironmentLacksError when none can be made."""
    path, remove = make()
    try:
        yield path
    finally:
        remove()


def make() -> tuple[Path, Remove]:
    """Make a folder; return it and what removes it, which never raises. Raises EnvironmentLacksError."""
    remove_abandoned()
    try:
        return _made()
    except OSError as error:
        where = f" in {tempfile.tempdir}" if tempfile.tempdir else ""
        raise EnvironmentLacksError(
            f"no temporary folder can be made{where}: {error.strerror}; TMPDIR names another place"
        ) from error


@contextmanager
def needing_room(path: Path) -> Iterator[None]:
    """Turn what the system says when there is no room for a temporary file into EnvironmentLacksError."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise EnvironmentLacksError(f"no room for {path}: {error.strerror}; TMPDIR names another folder") from error


def beside(path: Path) -> tuple[Path, Remove]:
    """Make a folder beside a file, named after it, in which what takes its place is made; return it as `make` does.

    Removes what killed commands left there. Raises OSError.
    """
    prefix = f"{path.name}.{PREFIX}"
    _sweep([left for left in path.parent.iterdir() if left.name.startswith(prefix)])
    return _made(prefix, path.parent)


def _made(prefix: str = PREFIX, within: Path | None = None) -> tuple[Path, Remove]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
        try:
            lock = _locked(path)
        except OSError as error:
            if error.errno in UNLOCKABLE:
                # It serves as well: who cannot lock it does not take it for abandoned, either.
                return path, partial(_remove_and_tell, path)
            path.rmdir()
            raise
        if lock is not None:
            return path, partial(_give_up, path, lock)


def _locked(path: Path) -> int | None:
    """Return a descriptor that holds a folder, None when somebody else does or has removed it.

    Raises OSError when it cannot be opened, and where folders cannot be locked.
    """
    try:
        descriptor = os.open(path, INTO)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _give_up(path: Path, lock: int) -> None:
    _remove_and_tell(path)
    os.close(lock)


def _remove_and_tell(path: Path) -> None:
    _remove(path)
    if path.exists():
        _log.warning("keval: %s: could not be removed with all that is in it; it is no longer used: remove it", path)


def _remove(path: Path) -> None:
    """Remove a folder as far as that is possible, however deep it is.

    What lies in a folder of it is moved up to the top: that takes no long path, and few open files.
    """
    with suppress(OSError):
        path.chmod(stat.S_IRWXU)
        top = os.open(path, INTO)
        try:
            _empty(top)
        finally:
            os.close(top)
        path.rmdir()


def _empty(top: int) -> None:
    """Remove what is in an open folder; what cannot be removed stays."""
    numbers = count()
    stays: set[str] = set()
    while left := [name for name in os.listdir(top) if name not in stays]:
        for name in left:
            try:
                _unfold(name, top, numbers)
            except OSError:
                stays.add(name)


def _unfold(name: str, top: int, numbers: Iterator[int]) -> None:
    """Remove a file or a folder of `top`, in which the folders that it holds come to lie. Raises OSError."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, stat.S_IRWXU, dir_fd=top)  # whatever its owner was forbidden
    folder = os.open(name, INTO, dir_fd=top)
    try:
        for each in os.listdir(folder):  # noqa: PTH208 - of a descriptor
            with suppress(OSError):  # the others go all the same
                _take_out(each, folder, top, f"{PREFIX}{secrets.token_hex(8)}-{next(numbers)}")
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _take_out(name: str, folder: int, top: int, new_name: str) -> None:
    """Remove a file of an open folder, or move a folder of it to `top`. Raises OSError."""
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.chmod(name, stat.S_IRWXU, dir_fd=folder)  # one that is closed cannot be moved
        os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=top)
    else:
        os.unlink(name, dir_fd=folder)


@cache
def remove_abandoned() -> None:
    """Remove the folders of commands that were killed, once in a process.

    Takes at most `SWEEP_S` seconds; what takes longer is removed while the process goes on.
    """
    try:
        found = list(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
    except OSError:  # nowhere to look in; whoever makes a folder is told
        return
    if found:
        removing = threading.Thread(target=_sweep, args=(found,), daemon=True)
        removing.start()
        removing.join(SWEEP_S)


def _sweep(found: list[Path]) -> None:
    for path in found:
        with suppress(OSError):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    lock = _locked(path)
    if lock is not None:
        _remove(path)
        os.close(lock)
