"""Finds the files on this machine that a command names, so that an edited program is another program."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from keval.errors import InputError
from keval.ids import JsonObject


@dataclass(frozen=True, slots=True)
class LocalFile:
    """One file, by its content."""

    name: str
    """Its path, relative to the config's folder if it lies in there."""
    sha256: str

    def as_event_field(self) -> JsonObject:
        """Return the file's entry in a `run` event."""
        return {"name": self.name, "sha256": self.sha256}


def named_by(command: Sequence[str], folder: Path) -> tuple[LocalFile, ...]:
    """Return the regular files that a program and its arguments name, in order; paths are relative to `folder`.

    A program without a slash is found by PATH and is no local file. In `--option=path` the path counts.
    Raises InputError for a file that cannot be read.
    """
    return tuple(_local_file(path, folder) for path in _paths(command, folder) if _is_file(path))


def _paths(command: Sequence[str], folder: Path) -> Iterator[Path]:
    for position, word in enumerate(command):
        if position or "/" in word:
            yield folder / word
        if word.startswith("-") and "=" in word:
            yield folder / word.partition("=")[2]


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - an argument may be no path at all: too long, or with a null in it


def _local_file(path: Path, folder: Path) -> LocalFile:
    name = path.relative_to(folder) if path.is_relative_to(folder) else path
    try:
        with path.open("rb") as file:
            return LocalFile(str(name), hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}; a command of the config names this file, and what is in it decides "
            "whether answers are new; make it readable"
        ) from error
