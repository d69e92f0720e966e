"""Finds the files on this machine that an agent is made of, so that an edited program is another program."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keval.errors import InputError
from keval.ids import JsonObject

HELP = "other files that its answers depend on, as paths or patterns from the config's folder: what it imports or reads"
"""What is said of an agent's option `files`."""


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

    @property
    def has_changed(self) -> bool:
        """Whether something else stands in it now, as far as it can be read."""
        if self.path is None or not _is_file(self.path):  # a pipe would be waited for
            return False
        try:
            return sha256_of(self.path) != self.sha256
        except OSError:
            return False

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


def matching(patterns: Sequence[str], folder: Path) -> tuple[LocalFile, ...]:
    """Return the regular files that patterns find, such as `kb/**/*.md`, by their paths; `folder` as in `named_by`.

    Hidden files are passed over, and what Python compiled. Raises InputError for a file that cannot be read.
    """
    return tuple(_local_file(path, folder) for path in sorted(found_by(patterns, folder)))


def found_by(patterns: Sequence[str], folder: Path) -> set[Path]:
    """Return the paths of the regular files that patterns find, as `matching` takes them."""
    return {path for pattern in patterns for path in _found(pattern, folder)}


def without_match(patterns: Sequence[str], folder: Path) -> str | None:
    """Return which pattern finds no regular file."""
    for pattern in patterns:
        if not any(_found(pattern, folder)):
            return f"files: {pattern!r} finds no file in {folder}"
    return None


def _found(pattern: str, folder: Path) -> Iterator[Path]:
    """Yield the regular files of a pattern; what is the path of a file as it stands is none."""
    if _is_file(folder / pattern):
        yield folder / pattern
        return
    for name in glob.iglob(pattern, root_dir=folder, recursive=True):  # noqa: PTH207 - it passes over hidden files
        path = folder / name
        if path.parent.name != "__pycache__" and _is_file(path):
            yield path


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
        return LocalFile(str(name), sha256_of(path), path)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}; the agent of the config names this file, and what is in it decides "
            "whether answers are new; make it readable"
        ) from error


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
