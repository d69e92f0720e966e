"""Copies a closed log to where data live, with its SHA-256 beside it, and never over anything that is there.

A local copy is made under another name, read back, and linked to its own; so whatever ends the command, that name has
the whole log or nothing. An object store is asked to create the object only if there is none, and the object is read
back.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from keval.documents.packed import is_packed
from keval.errors import EnvironmentLacksError, InputError, UsageError
from keval.logs import addresses, locks, s3
from keval.logs.check import ends_with_line
from keval.logs.collect import no_events
from keval.logs.on_disk import sync_folder
from keval.logs.stream import count_events, log_reader
from keval.processes import temporary

ENDING = ".sha256"
"""What the name of a file of checksums ends with, after the name of what it is of."""

AT_ONCE = 2**20
"""Bytes that are read of a file at once."""

PART, PARTS_AT_ONCE = 16 * 2**20, 2
"""Bytes of an object that are sent in one request, and how many of such requests there are at once."""

NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""What file systems say that know no hard links, such as many that are mounted."""


@dataclass(frozen=True)
class Pushed:
    """A log that lies where it was pushed to."""

    place: str
    sha256: str
    is_new: bool
    """Whether it was copied now; it was there before else."""


def push(log: Path, destination: str) -> Pushed:
    """Copy a log that nobody writes to, with its checksum; the same log that is there already is left as it is.

    `destination` is a file, a folder, or an address of S3. Raises InputError for a log with a line that is not valid or
    cut off; UsageError if something is writing to it, or if something else has the name; and EnvironmentLacksError.
    """
    place = _place(log, destination)
    with _open(log) as source, locks.closed(source.fileno(), log):
        _check(log)
        digest = _digest(source)
        checksum = _checksum_line(digest, place.name)
        beside = place.beside()
        with place.told():
            is_new = not _refuse_other(place, digest, digest)
            _refuse_other(beside, hashlib.sha256(checksum).hexdigest(), digest)
            if is_new:
                _create(place, log, digest)
            _create_text(beside, checksum)
    return Pushed(str(place), digest, is_new)


def _open(log: Path) -> IO[bytes]:
    try:
        if not stat.S_ISREG(log.stat().st_mode):  # to open a pipe would wait for somebody who writes to it
            raise InputError(f"{log} is no regular file; name a log that is one")
        return log.open("rb")
    except OSError as error:
        raise InputError(f"{log}: {error.strerror}") from error


def _check(log: Path) -> None:
    """Raise InputError for what is no whole log."""
    said: list[str] = []
    with log_reader(log, said.append, skip_invalid=True) as reader:
        events = count_events(reader)
    if reader.skipped:
        raise InputError(said[0].replace(": skipped: ", ": ", 1))
    if reader.torn or (events and not is_packed(log) and not ends_with_line(log, log.stat().st_size)):
        raise InputError(
            f"{log}: the last line is cut off; the command that wrote it, given again, mends the log and does the rest"
        )
    if not events:
        raise no_events(str(log))


def _digest(source: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while read := source.read(AT_ONCE):
        digest.update(read)
    return digest.hexdigest()


def _refuse_other(place: _Place, content: str, log: str) -> bool:
    """Return whether a content is there already. Raises UsageError if something else is."""
    found = place.digest()
    if found not in {None, content}:
        raise UsageError(f"{place} is there already, and is not of this log (SHA-256 {log}); nothing was written")
    return found is not None


def _checksum_line(digest: str, name: str) -> bytes:
    """Return the line that `sha256sum -c` reads; it marks a name in which characters are escaped by a backslash."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return os.fsencode(f"{'' if escaped == name else chr(92)}{digest}  {escaped}\n")


def _create(place: _Place, log: Path, digest: str) -> None:
    try:
        place.create(log, digest)
    except FileExistsError:  # somebody else was faster
        _refuse_other(place, digest, digest)


def _create_text(place: _Place, text: bytes) -> None:
    with temporary.folder() as folder:
        file = folder / "text"
        file.write_bytes(text)
        _create(place, file, hashlib.sha256(text).hexdigest())


class _Place(ABC):
    """Where a file is to be."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called there."""

    @abstractmethod
    def beside(self) -> _Place:
        """Return the place of the checksum."""

    @abstractmethod
    def digest(self) -> str | None:
        """Return the SHA-256 of what is there, None if there is nothing."""

    @abstractmethod
    def create(self, source: Path, digest: str) -> None:
        """Copy a file there. Raises FileExistsError if something is there, InputError if the copy has another hash."""

    @contextmanager
    def told(self) -> Iterator[None]:
        """Turn errors of the place into EnvironmentLacksError."""
        try:
            yield
        except OSError as error:
            raise EnvironmentLacksError(f"{self}: {error.strerror or error}") from error


def _place(log: Path, destination: str) -> _Place:
    scheme = addresses.scheme_of(destination)
    if scheme == "s3":
        destination = f"s3://{destination.partition('://')[2]}"  # it may begin with S3://
        if not destination.removeprefix("s3://").partition("/")[0]:
            raise UsageError(f"{destination} names no bucket; write s3://BUCKET/KEY")
        is_folder = destination.endswith("/") or "/" not in destination.removeprefix("s3://")
        return _Object(f"{destination.rstrip('/')}/{log.name}" if is_folder else destination)
    if scheme is not None:
        raise UsageError(
            f"{addresses.shown(destination)}: keval writes to no {scheme}://, only to folders and s3://, where it"
            " can be sure to replace nothing"
        )
    if not destination:
        raise UsageError("the destination is empty: name a folder, a file or s3://BUCKET/KEY")
    path = Path(destination)
    path = path / log.name if destination.endswith("/") or path.is_dir() else path
    if not path.parent.is_dir():
        raise EnvironmentLacksError(f"{path.parent} is not an existing folder; mount it, make it, or name another one")
    if path.exists() and path.samefile(log):
        raise UsageError(f"{path} is the log itself; name another place")
    found = _File(path)
    for each in (path, found.beside().path):  # to read a pipe would wait for somebody who writes to it
        if each.exists() and not each.is_file():
            raise UsageError(f"{each} is no file; name a folder or a file")
    return found


@dataclass(frozen=True)
class _File(_Place):
    """A file of this machine, or of a folder that is mounted."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    def beside(self) -> _File:
        return _File(self.path.with_name(f"{self.path.name}{ENDING}"))

    def digest(self) -> str | None:
        if not os.path.lexists(self.path):
            return None
        with self.path.open("rb") as file:
            return _digest(file)

    def create(self, source: Path, digest: str) -> None:
        folder, remove = temporary.beside(self.path)
        try:
            made = folder / "copy"
            with source.open("rb") as whole, made.open("xb") as copy:
                shutil.copyfileobj(whole, copy, AT_ONCE)
                copy.flush()
                os.fsync(copy.fileno())
            if _File(made).digest() != digest:
                raise InputError(f"{source}: was changed while it was copied to {self.path}; nothing is there")
            _name(made, self.path)
        finally:
            remove()


def _name(made: Path, target: Path) -> None:
    """Give a file its name, which nothing else has. Raises FileExistsError."""
    try:
        os.link(made, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # Between these two steps somebody may take the name; no call of Python does both at once without links.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from error
        made.rename(target)
    sync_folder(target.parent)


@dataclass(frozen=True)
class _Object(_Place):
    """An object of S3, or of what speaks its protocol."""

    address: str

    def __str__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        return self.address.rpartition("/")[2]

    def beside(self) -> _Place:
        return _Object(f"{self.address}{ENDING}")

    def digest(self) -> str | None:
        try:
            with s3.filesystem().open(self.address, "rb") as file:
                return _digest(file)
        except FileNotFoundError:
            return None

    def create(self, source: Path, digest: str) -> None:
        store = s3.filesystem()
        store.put_file(str(source), self.address, mode="create", chunksize=PART, max_concurrency=PARTS_AT_ONCE)
        if self.digest() != digest:
            store.rm_file(self.address)
            raise InputError(
                f"{source}: was changed while it was copied to {self.address}, or on its way; it was removed"
            )

    @contextmanager
    def told(self) -> Iterator[None]:
        s3.filesystem()  # without which there is nothing to import
        from botocore.exceptions import BotoCoreError

        try:
            with super().told():
                yield
        except BotoCoreError as error:
            raise EnvironmentLacksError(f"{self}: {error}") from error
