"""Puts on disk that a file has its name: without that, a crash of the machine may leave its bytes under none."""

from __future__ import annotations

import errno
import os
from pathlib import Path

IMPOSSIBLE = frozenset({errno.EACCES, errno.EBADF, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})
"""What the system says of a folder that may not be read, or of a file system that puts no folder on disk by itself."""


def sync_folder(folder: Path) -> None:
    """Put the names of a folder's files on disk, where that is possible. Raises OSError."""
    try:
        sync(folder)
    except OSError as error:
        if error.errno not in IMPOSSIBLE:
            raise


def sync(path: Path) -> None:
    """Put a file, or the names of a folder's files, on disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
