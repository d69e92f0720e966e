"""Reads JSON out of zip archives, whose members may be packed by Zstandard, and tells in words what is damaged."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import orjson

from keval.errors import InputError
from keval.origins._files import parsed

if sys.version_info >= (3, 14):
    import zipfile

    from compression import zstd
else:
    from backports import zstd
    from backports.zstd import zipfile

MOST_BYTES = 2**28
"""The largest member that is read: a small archive may be made to fill a memory."""

_DAMAGES = (zipfile.BadZipFile, zstd.ZstdError, zlib.error, KeyError, EOFError, OSError, RuntimeError, ValueError)
"""What reading a damaged archive raises; RuntimeError for one that is encrypted or packed in an unknown way."""


class Archive:
    """An archive that is open for reading."""

    def __init__(self, path: Path) -> None:
        with _damage_told():
            self._archive = zipfile.ZipFile(path)
        self.names = self._archive.namelist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._archive.close()

    def member(self, name: str) -> object:
        """Return what a JSON file in it holds. Raises InputError for one that cannot be read."""
        with _damage_told():
            if self._archive.getinfo(name).file_size > MOST_BYTES:
                raise InputError(f"{name} is larger than {MOST_BYTES >> 20} MiB")
            content = self._archive.read(name)
        try:
            return parsed(content)
        except orjson.JSONDecodeError as error:
            raise InputError(f"{name} is not JSON: {error}") from error


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except _DAMAGES as error:
        told = error.args[0] if isinstance(error, KeyError) else error
        raise InputError(f"cut off, damaged or no archive of Inspect: {told}; copy it again") from error
