"""Packs a folder into bytes and unpacks it elsewhere: how a workspace comes back from another machine."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path


def packed(folder: Path) -> bytes:
    """Return a folder with all that is in it, links as links. Raises OSError."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, arcname=".")
    return written.getvalue()


def unpack(content: bytes, folder: Path) -> None:
    """Make a folder of what `packed` returned; nothing is written outside of it. Raises OSError."""
    folder.mkdir(parents=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            archive.extractall(folder, filter="tar")
    except tarfile.TarError as error:
        raise OSError(f"{folder}: {error}") from error
