"""Copies a part of a file."""

from __future__ import annotations

from pathlib import Path

AT_ONCE = 2**20
"""Bytes that are copied at once."""


def copy_part(source: Path, start: int, end: int, target: Path) -> None:
    """Write the bytes of a file from `start` to before `end` to another file. Raises OSError."""
    with source.open("rb") as read, target.open("wb") as written:
        read.seek(start)
        while start < end and (part := read.read(min(end - start, AT_ONCE))):
            written.write(part)
            start += len(part)
