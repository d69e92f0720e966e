"""What the folders in which an agent works begin with: nothing, a folder's files, or a commit of a repository.

A template is known by its content: of a folder by a hash of all that is in it, of a repository by the commit. What
tasks get are copies of one copy that is made at the beginning of a run, so that all of them get the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from keval.errors import EnvironmentLacksError, InputError

GIT_TIMEOUT_S = 600.0
"""How long git may take for one step; the largest repositories take minutes to check out."""

Entry = tuple[str, str, str]
"""A path inside a folder, what is there, and a hash of it or where a link leads."""


class TemplateError(EnvironmentLacksError):
    """A template is no more what it was when the run began: to try again does not help."""


@dataclass(frozen=True, slots=True)
class Template:
    """What each workspace begins with."""

    path: Path
    written: str
    """The path as the config has it."""
    sha256: str | None = None
    """Of a folder: the hash of its content."""
    commit: str | None = None
    """Of a repository: what is checked out."""

    @property
    def content(self) -> str:
        """What identifies the template, whatever its path."""
        return str(self.commit or self.sha256)

    def described(self) -> dict[str, Any]:
        """Return the template's entry in a `run` event."""
        if self.commit is None:
            return {"copy": self.written, "sha256": self.sha256}
        return {"git": self.written, "commit": self.commit}

    def links_out(self) -> list[Path]:
        """Return the links of a folder that in a copy lead to something outside of that, sorted."""
        if self.commit is not None:
            return []
        paths = (Path(place, name) for place, *names in os.walk(self.path) for name in chain(*names))
        return sorted(path for path in paths if path.is_symlink() and _leads_out(path, self.path))

    def put_into(self, folder: Path) -> None:
        """Fill an empty folder. Raises TemplateError for a template that is not what it was, and OSError."""
        try:
            if self.commit is not None:
                _check_out(self.path, self.commit, folder)
            elif of_folder(self.path, self.written) == self:
                shutil.copytree(self.path, folder, symlinks=True, dirs_exist_ok=True)
        except InputError as error:
            raise TemplateError(f"workspace: {self.written} cannot be copied: {error}") from error
        if self.commit is None and _digest(folder) != self.sha256:
            raise TemplateError(
                f"workspace: {self.written} was changed after the run had begun; "
                "give the command again: what it asks for is new then"
            )


def of_folder(path: Path, written: str) -> Template:
    """Return the template that is a folder. Raises InputError for what is none, and for what no copy can hold."""
    if not path.is_dir():
        raise InputError(f"{path} {'is no folder' if path.exists() else 'does not exist'}")
    return Template(path, written, sha256=_digest(path))


def of_repository(path: Path, written: str, ref: str) -> Template:
    """Return the template that is a commit. Raises InputError where there is no such commit, and without git."""
    if not path.is_dir():
        raise InputError(f"{path} {'is no folder' if path.exists() else 'does not exist'}")
    # `--end-of-options`: a ref that begins with a dash is a ref.
    said = _git(path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", told=f"no {ref!r}")
    return Template(path, written, commit=said)


def _digest(folder: Path) -> str:
    """Return the hash of all that is in a folder: names, contents, what may be executed, and where links lead."""
    digest = hashlib.sha256()
    for entry in sorted(_entries(folder)):
        digest.update("\0".join(entry).encode(errors="surrogateescape") + b"\0\0")
    return digest.hexdigest()


def _leads_out(link: Path, folder: Path) -> bool:
    """Return whether a copy of a link leads out of the copy of its folder: any that says the whole path does.

    One that leads nowhere, or where nobody may look, leads to nothing that is shared.
    """
    if not os.path.exists(link):  # noqa: PTH110 - Path.exists raises where nobody may look
        return False
    return link.readlink().is_absolute() or not link.resolve().is_relative_to(folder.resolve())


def _entries(folder: Path) -> Iterator[Entry]:
    for place, folders, files in os.walk(folder, onerror=_refuse):
        for name in (*folders, *files):
            path = Path(place, name)
            yield (str(path.relative_to(folder)), *_content(path))


def _content(path: Path) -> tuple[str, str]:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return "link", str(path.readlink())
        if stat.S_ISDIR(mode):
            return "folder", ""
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                return "program" if mode & stat.S_IXUSR else "file", hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        _refuse(error)
    raise InputError(f"{path} is neither a file nor a folder nor a link: no copy can be made of it")


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename}: {error.strerror}") from error


def _check_out(repository: Path, commit: str, folder: Path) -> None:
    """Check a commit out, with nothing else of its repository: no other commits, no remote, no hooks."""
    found = _git(repository, "rev-parse", "--path-format=absolute", "--git-common-dir", told="no repository")
    _git(folder, "init", "--quiet", "--template=", told="git cannot begin a repository")
    fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head")
    _git(folder, *fetch, f"file://{quote(found)}", commit, told=f"{commit} cannot be fetched")
    _git(folder, "checkout", "--quiet", "--detach", commit, own_settings=False, told=f"{commit} cannot be checked out")


def _git(folder: Path, *arguments: str, told: str, own_settings: bool = True) -> str:
    """Return what git prints; without `own_settings` those of the user and the machine do not count."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    if not own_settings:
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(  # noqa: S603 - no shell; refs and paths are arguments of their own
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True, text=True, check=False, timeout=GIT_TIMEOUT_S, env=env, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{folder}: git: {error}") from error
    if done.returncode:
        raise InputError(f"{folder}: {told}: {done.stderr.strip() or 'git finds none'}")
    return done.stdout.strip()
