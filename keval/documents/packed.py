"""Opens files that may be packed, as their names say: `.gz` by gzip, `.zst` by zstd."""

from __future__ import annotations

import errno
import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PACKED = {".gz", ".zst"}
"""How the names of packed files end."""


def is_packed(path: Path) -> bool:
    """Return whether a file's name says that it is packed."""
    return path.suffix.lower() in PACKED


def unpacked_name(path: Path) -> Path:
    """Return what a file would be called if it were not packed."""
    return path.with_suffix("") if is_packed(path) else path


def opened(path: Path) -> BinaryIO:
    """Return a file opened for reading, unpacked if it is packed. Reading and opening raise OSError."""
    if not is_packed(path):
        return path.open("rb")
    return cast("BinaryIO", io.BufferedReader(_Unpacked(path), 2**17))


class _Unpacked(io.RawIOBase):
    """What a packed file holds; one that is damaged or cut off is an error like that of a damaged disk."""

    def __init__(self, path: Path) -> None:
        self._errors: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip.BadGzipFile)
        self._source: BinaryIO
        if path.suffix.lower() == ".gz":
            self._source = cast("BinaryIO", gzip.open(path))  # noqa: SIM115 - closed with this stream
        else:
            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            self._errors = (*self._errors, zstd.ZstdError)
            self._source = cast("BinaryIO", zstd.open(path))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        try:
            read = self._source.read(len(view))
        except self._errors as error:
            raise OSError(errno.EIO, f"damaged or not packed as its name says: {error}") from error
        view[: len(read)] = read
        return len(read)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()
