"""A pipe that is read by a thread, which another thread can tell to wait no longer.

Nothing else ends a `read` that waits for a silent pipe: a thread cannot be cancelled, and Python waits for it at exit.
"""

from __future__ import annotations

import errno
import io
import os
import select
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class EndableInput(io.RawIOBase):
    """The bytes of a descriptor, which stays open; `end` makes a `read` fail that waits, or that is begun later."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._ended, self._end = os.pipe()
        self._readable = select.poll()
        for each in (descriptor, self._ended):
            self._readable.register(each, select.POLLIN)

    def readable(self) -> bool:
        """Return that it can be read, as io.BufferedReader wants to know."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read what is there, and wait until something is. Raises OSError, also once it was ended."""
        if self._ended in dict(self._readable.poll()):
            raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
        return os.readv(self._descriptor, [buffer])

    def end(self) -> None:
        """Wait no longer."""
        os.write(self._end, b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ended)
        os.close(self._end)
