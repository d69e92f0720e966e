"""Finds the files on this machine that a command names, so that an edited program is another program."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keval.errors import InputError
from keval.ids import JsonObject


@dataclass(frozen=True, slots=True)
class LocalFile:
    """One file, by its content."""

    name: str
    """Its path, relative to the config's folder if it lies in there."""
    sha256: str
    path: Path | None = field(default=None, compare=False, repr=False)
    """Where it is on this machine; no part of what it is."""

    @property
    def is_gone(self) -> bool:
        """Whether it was there when the command began, and is not any more."""
        return self.path is not None and not self.path.exists()

    def as_event_field(self) -> JsonObject:
        """Return the file's entry in a `run` event."""
        return {"name": self.name, "sha256": self.sha256}


def named_by(command: Sequence[str], folder: Path) -> tuple[LocalFile, ...]:
    """Return the regular files that a program and its arguments name, in order; paths are relative to `folder`.

    A program without a slash is found by PATH and is no local file. In `--option=path` the path counts.
    Raises InputError for a file that cannot be read.
    """
    return tuple(_local_file(path, folder) for path in _paths(command, folder) if _is_file(path))


FOLDER = "{folder}"
"""What stands for the config's folder in an argument."""

_OF_A_SHELL = re.compile(r"[\s|&;<>$`*?{}]")
"""What makes an argument a line of a shell, a pattern, or something that is filled in later, rather than a path."""


def not_there(command: Sequence[str], folder: Path) -> str | None:
    """Return which of a command's arguments is a path that begins with {folder}, the config's, and leads nowhere.

    An argument that is more than a path, such as a line of a shell, is not looked at.
    """
    for word in command:
        rest = word.removeprefix(f"{FOLDER}/")
        if rest != word and not _OF_A_SHELL.search(rest) and not (folder / rest).exists():
            return f"its command names {word}, and {folder / rest} does not exist"
    return None


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
            return LocalFile(str(name), hashlib.file_digest(file, "sha256").hexdigest(), path)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}; a command of the config names this file, and what is in it decides "
            "whether answers are new; make it readable"
        ) from error
