"""Temporary folders: removing one ends no run, and what a killed command left is removed by the next one.

A folder is locked by the process that made it. The kernel lets go of the lock when that process
dies, however it dies, so a folder that can be locked by somebody else is abandoned.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path

from keval.errors import EnvironmentLacksError

PREFIX = "kvtask-"
"""How the names of all folders begin: no other program's do, and they tell an agent nothing."""

SWEEP_S = 5.0
"""How long a command waits for the removal of what others have left; after that it goes on meanwhile."""

UNLOCKABLE = frozenset({errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
"""What file systems say that cannot lock a folder; NFS wants to write to what it locks, which no folder allows."""

_log = logging.getLogger(__name__)


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for as long as this is entered. Raises EnvironmentLacksError when none can be made."""
    path, remove = make()
    try:
        yield path
    finally:
        remove()


def make() -> tuple[Path, Callable[[], None]]:
    """Make a folder; return it and what removes it, which never raises. Raises EnvironmentLacksError."""
    remove_abandoned()
    try:
        return _made()
    except OSError as error:
        where = f" in {tempfile.tempdir}" if tempfile.tempdir else ""
        raise EnvironmentLacksError(
            f"no temporary folder can be made{where}: {error.strerror}; TMPDIR names another place"
        ) from error


def _made() -> tuple[Path, Callable[[], None]]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
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
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
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
    """Remove a folder as far as that is possible."""
    with suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    # The second time whatever has forbidden it to its owner is allowed, and the rest is left.
    with suppress(OSError, RecursionError):
        for place, folders, _ in os.walk(path):
            for each in (place, *(os.path.join(place, name) for name in folders)):  # noqa: PTH118 - names need not be text
                if not os.path.islink(each):  # noqa: PTH114 - as above
                    with suppress(OSError):
                        os.chmod(each, stat.S_IRWXU)  # noqa: PTH101 - as above
    with suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)


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
