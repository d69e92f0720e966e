"""The index beside a log: a database with all that is computed from its lines; later commands read only new lines.

It is derived and may be removed at any time. It says which bytes of the log it was made from, by which version of the
tables, and which bytes it has itself; where one of them is not what it was, it is made anew. A new one takes the place
of the old one by a rename, and none is ever written to again: who reads the old one goes on, and nobody waits.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from keval import documents, failure_kinds, projections, schema
from keval.errors import EnvironmentLacksError
from keval.logs import fingerprint, stream
from keval.logs.check import Check
from keval.logs.fingerprint import Fingerprint
from keval.passing import SLACK
from keval.processes import interruption, temporary
from keval.projections.log_file import ChangedError, LogFile, Stored

if TYPE_CHECKING:
    from keval.ids import JsonObject

SMALLEST = 4 * 2**20
"""Bytes of a log that is worth an index; a smaller one is read as fast as its index."""

NEW_SHARE = 1 / 8
"""An index is made anew when so much of the log is not in it; until then the rest is read each time."""

_END = struct.Struct("<32sQ8s")
"""What an index ends with, after the database and what is said of it: hash of both, bytes of the latter, MARK."""

MARK = b"keval-ix"

DATABASE = b"DUCK"
"""What the first bytes of an index hold, be it damaged: those of a DuckDB database."""

TABLE = b"is_separable"
"""Only an index has a table of this name: by it one is known that was cut off."""

SMALLEST_DATABASE = 3 * 4096
"""Bytes of the headers of a DuckDB database: in one that is shorter nothing of anybody's can be found."""

READ_AT_ONCE = 2**20
"""Bytes of a file that are searched at once."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index that a log still begins with."""

    path: Path
    """Names the file as long as it is kept open, whatever takes its place meanwhile."""
    lines: int
    """Events that it has."""
    longest: int
    """Bytes of the longest one."""
    log: Fingerprint
    """What it was made from."""

    @property
    def stored(self) -> Stored:
        """What the views need to know of it."""
        return Stored(self.path, self.lines, self.log.size)


def path_of(log: Path) -> Path:
    """Return where the index of a log lies: beside the file itself, by whatever link it was named."""
    real = log.resolve()
    return real.with_name(f"{real.name}.index")


def find(log: Path, kept: ExitStack) -> Index | None:
    """Return the index of a log, None if there is none that is true of what stands in the log now.

    It is held open until `kept` is closed.
    """
    if _has_changes_beside(path_of(log)):
        return None
    with ExitStack() as opened, suppress(OSError):
        descriptor = _open(path_of(log), opened)
        about = _about(descriptor)
        if about is None:
            return None
        known = Fingerprint(**about["log"])
        with log.open("rb") as file:
            if not fingerprint.still_begins(file.fileno(), known):
                return None
        if os.fstat(descriptor).st_mode & ~log.stat().st_mode & 0o666:
            with suppress(OSError):  # somebody else's
                _let_read(path_of(log), log)
        kept.push(opened.pop_all())
        return Index(_named(descriptor), about["lines"], about["longest"], known)
    return None


def _open(path: Path, opened: ExitStack) -> int:
    # Not to wait for somebody who writes to it, should it be a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    opened.callback(os.close, descriptor)
    return descriptor


def _named(descriptor: int) -> Path:
    """Return a path that means an open file: under its own name there may soon be a newer one."""
    return Path(f"/dev/fd/{descriptor}")


def _about(descriptor: int) -> JsonObject | None:
    """Return what an index says of itself, None for another file, a damaged one, or one of another version."""
    status = os.fstat(descriptor)
    end = status.st_size - _END.size
    if not stat.S_ISREG(status.st_mode) or end < 0:
        return None
    digest, length, mark = _END.unpack(os.pread(descriptor, _END.size, end))
    if mark != MARK or length > end:
        return None
    said = os.pread(descriptor, length, end - length)
    if not said.startswith(_version().encode()):
        return None
    if str(fingerprint.digest_of(descriptor, end)).encode() != digest:
        return None
    about: JsonObject = orjson.loads(said.removeprefix(_version().encode()))
    return about


def make(log: LogFile, spare: Path, check: Check, kept: ExitStack) -> Index:
    """Make the index of a log while it is checked, beside the log if that is possible, else as the file `spare`.

    It is held open until `kept` is closed. Raises what `check` raises, ChangedError for a log that is written over
    meanwhile, and EnvironmentLacksError.
    """
    target = path_of(log.path)
    if _has_changes_beside(target):
        check.warn(
            f"{_changes_beside(target)} holds what another program wrote into the index, which would count in every "
            f"number, so {log.name} is read without one that lasts; remove the file"
        )
        return _made(log, spare, check, kept)
    if (refused := _refusal(target)) is not None:
        check.warn(f"{refused}, so {log.name} is read without an index that lasts")
        return _made(log, spare, check, kept)
    with ExitStack() as beside:
        try:
            with interruption.held_back():
                folder, remove = _folder_beside(log.path, target)
                beside.callback(remove)
        except OSError:
            return _made(log, spare, check, kept)
        made = folder / "index"
        try:
            index = _made(log, made, check, kept)
        except EnvironmentLacksError:
            # No room beside the log; where `spare` lies there may be some.
            return _made(log, spare, check, kept)
        with suppress(OSError):  # no room, or no place: what was made serves this command
            _sign(made, index)
            _let_read(made, log.path)
            made.rename(target)
        return index


def _folder_beside(log: Path, target: Path) -> tuple[Path, temporary.Remove]:
    """Make a folder in which an index is made. Raises OSError where nothing can be written, or the log has no place."""
    if not log.samefile(log.resolve()):
        raise FileNotFoundError(log)
    return temporary.beside(target)


def _made(log: LogFile, path: Path, check: Check, kept: ExitStack) -> Index:
    projections.store(log, path)
    read = check.fingerprint()
    with log.path.open("rb") as file:
        if not fingerprint.still_begins(file.fileno(), read):
            raise ChangedError(log.name)
    return Index(_named(_open(path, kept)), check.lines, check.longest, read)


def _has_changes_beside(index: Path) -> bool:
    """Return whether a file lies beside an index that DuckDB would read with it: changes that it has to have, too.

    keval never writes to an index, so they are of another program; and what they are, no hash tells.
    """
    return os.path.lexists(_changes_beside(index))


def _changes_beside(index: Path) -> str:
    """Return where DuckDB has what was written into a file and is not in it yet: beside what a link leads to."""
    return f"{os.path.realpath(index)}.wal"


def _refusal(path: Path) -> str | None:
    """Return why no index may be put there: what is there is somebody's, or cannot be looked at; None if one may."""
    with ExitStack() as opened:
        try:
            descriptor = _open(path, opened)
            is_ours = stat.S_ISREG(os.fstat(descriptor).st_mode) and _is_index(descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{path}: {error.strerror}"
        return None if is_ours else f"{path} is no index of keval and is left as it is"


def _is_index(descriptor: int) -> bool:
    """Return whether a file is empty, or an index of whatever version, be it damaged."""
    head, size = os.pread(descriptor, 16, 0), os.fstat(descriptor).st_size
    if DATABASE not in head:
        return not head
    return (
        size < SMALLEST_DATABASE
        or os.pread(descriptor, len(MARK), max(0, size - len(MARK))) == MARK
        or _holds_text(descriptor, TABLE)
    )


def _holds_text(descriptor: int, text: bytes) -> bool:
    """Return whether a text stands anywhere in a file."""
    at = 0
    while len(read := os.pread(descriptor, READ_AT_ONCE, at)) >= len(text):
        if text in read:
            return True
        at += len(read) - len(text) + 1  # it may begin at the end of what was read
    return False


def _sign(path: Path, index: Index) -> None:
    """Say at the end of an index what it is, and what its bytes are."""
    about = {"lines": index.lines, "longest": index.longest, "log": asdict(index.log)}
    said = _version().encode() + orjson.dumps(about)
    with path.open("rb+") as file:
        file.seek(0, os.SEEK_END)
        file.write(said)
        file.flush()
        digest = fingerprint.digest_of(file.fileno(), file.tell())
        file.write(_END.pack(str(digest).encode(), len(said), MARK))
        file.flush()
        os.fsync(file.fileno())


def _let_read(path: Path, log: Path) -> None:
    """Let those read a file who may read the log, and nobody else."""
    status = log.stat()
    mode = status.st_mode & 0o666
    try:
        os.chown(path, -1, status.st_gid)
    except OSError:
        mode &= ~0o060  # it would be another group
    path.chmod(mode)


@cache
def _version() -> str:
    """Return the identity of all that decides what is in an index: how tables are made, and which lines are valid."""
    tables = hashlib.sha256(repr((failure_kinds.view_rows(), SLACK)).encode())
    making, checking = Path(projections.__file__).parent, Path(documents.__file__).parent
    rules = (*schema.locate().glob("*.json"), *map(Path, (schema.__file__, stream.__file__)), *checking.glob("*.py"))
    for file in sorted((*making.glob("*.sql"), *making.glob("*.py"), *rules)):
        tables.update(file.read_bytes())
    return f"{version('keval')} {version('duckdb')} {tables.hexdigest()[:24]}"
