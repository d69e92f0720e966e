"""Copies logs from object storage and web servers to this machine, where they are read like any other, index included.

DuckDB reads them, through its own extension httpfs where that is installed. keval installs no extension: that would
load a program from the network. Where httpfs is not installed, the extra `s3` lets DuckDB read `s3://`.

A copy stays in a cache folder, and is made anew when the size or the time of what it is a copy of has changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from keval.errors import EnvironmentLacksError, InputError, UsageError, Warn
from keval.ids import digest
from keval.logs import addresses, s3
from keval.processes import temporary
from keval.projections.sql_file import WILDCARDS, literal, load, with_escaped

if TYPE_CHECKING:
    import duckdb

SCHEMES = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "r2", "hf", "http", "https"})
"""What DuckDB's extension httpfs reads."""

WEB_SCHEMES = frozenset({"http", "https"})
"""Those of them in whose addresses nothing is a wildcard."""

AT_ONCE = 64 * 2**20
"""Bytes of a file that is copied as a whole; of a larger one line by line, in bounded memory."""

LONGEST_COPIED_LINE = 32 * 2**20
"""Bytes that a line of a larger file may have."""

LINES_AT_ONCE = 100

HOW = (
    "install DuckDB's extension httpfs once, with the same DuckDB, where there is a network: "
    "python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\""
)


class _Remote(NamedTuple):
    """A file that an address means."""

    address: str
    size: int
    changed_us: int | None

    @property
    def pattern(self) -> str:
        """The address as a pattern that nothing else matches."""
        return _pattern(self.address, WILDCARDS)


def fetched(address: str, warn: Warn) -> list[Path]:
    """Return copies of the logs that an address means, of which there may be several: `s3://bucket/runs/*.jsonl`.

    Raises UsageError for an address of another kind, InputError where nothing can be read there, and
    EnvironmentLacksError where an extension is missing, or room for the copies.
    """
    import duckdb

    scheme = addresses.scheme_of(address)
    if scheme not in SCHEMES:
        raise UsageError(f"{addresses.shown(address)}: keval reads no {scheme}://, only {', '.join(sorted(SCHEMES))}")
    with _connected(address) as connection:
        try:
            found = _found(connection, _pattern(address, "?["))  # `*` alone is a wildcard to users
            if not found:
                raise InputError(f"{addresses.shown(address)}: no such file, or none that matches")
            return [_copied(connection, each, warn) for each in found]
        except duckdb.Error as error:
            raise InputError(f"{addresses.shown(address)}: cannot be read: {_reason(error)}") from None


def _pattern(address: str, no_wildcards: str) -> str:
    """Return an address as a pattern in which these wildcards mean themselves; that of a web server has none."""
    return address if addresses.scheme_of(address) in WEB_SCHEMES else with_escaped(address, no_wildcards)


def _found(connection: duckdb.DuckDBPyConnection, pattern: str) -> list[_Remote]:
    found = connection.execute(load("logs", "remote_files", address=literal(pattern))).fetchall()
    return [_Remote(*each) for each in found]


@contextmanager
def _connected(address: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database that can read an address; it reads nothing else, and no query of a user sees its credentials."""
    import duckdb

    s3.hide_credentials()
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "threads": 1,
    }
    with duckdb.connect(config=settings) as connection:
        try:
            connection.execute("LOAD httpfs")
        except duckdb.Error as error:
            is_s3 = addresses.scheme_of(address) == "s3"
            if not (is_s3 and s3.is_installed()):
                instead = f"; for s3:// alone, {s3.INSTALL} does as well" if is_s3 else ""
                raise EnvironmentLacksError(
                    f"{addresses.shown(address)}: DuckDB {duckdb.__version__} cannot read it: {_reason(error)}",
                    f"{HOW}{instead}",
                ) from None
            connection.register_filesystem(s3.filesystem())
        yield connection


def _reason(error: Exception) -> str:
    """Return the line of an error that says why, without what nobody else may see."""
    lines = [line for line in str(error).splitlines() if line and not line.startswith((" ", "Traceback"))]
    return addresses.shown(lines[0]) if lines else type(error).__name__


def _copied(connection: duckdb.DuckDBPyConnection, remote: _Remote, warn: Warn) -> Path:
    """Return a copy of a file, made now unless there is one that is true."""
    copy = _folder() / digest("copy", remote.address) / _file_name(remote.address)
    addresses.note(copy, remote.address)
    if _is_true(copy, remote):
        return copy
    try:
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder, remove = temporary.beside(copy)
        try:
            made = folder / "copy"
            _copy(connection, remote, made)
            if remote.changed_us is not None:
                os.utime(made, ns=(remote.changed_us * 1000, remote.changed_us * 1000))
            made.rename(copy)
        finally:
            remove()
    except OSError as error:
        raise EnvironmentLacksError(
            f"{copy}: {error.strerror}; XDG_CACHE_HOME names another folder for copies of remote logs"
        ) from error
    warn(f"{addresses.shown(remote.address)}: copied to {copy}")
    return copy


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "keval" / "logs"


def _file_name(address: str) -> str:
    """Return what a copy is called: its ending says whether it is packed."""
    path = address.partition("?")[0] if addresses.scheme_of(address) in WEB_SCHEMES else address
    path = addresses.shown(path).removesuffix("?…")
    return path.rstrip("/").rpartition("/")[2] or "log.jsonl"


def _is_true(copy: Path, remote: _Remote) -> bool:
    """Return whether a copy is there, and of what is there now: as large, and as old, which a copy is made to be."""
    try:
        status = copy.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns // 1000) == (remote.size, remote.changed_us)


def _copy(connection: duckdb.DuckDBPyConnection, remote: _Remote, target: Path) -> None:
    """Copy a file. Raises InputError if its pattern matches not it alone, or it is not as large as it is said to be."""
    if [each.address for each in _found(connection, remote.pattern)] != [remote.address]:
        raise InputError(
            f"{addresses.shown(remote.address)}: is gone, or cannot be told apart from others by its name: if it is "
            "there, copy it to this machine and name the copy"
        )
    with target.open("xb") as file:
        target.chmod(0o600)
        if remote.size <= AT_ONCE:
            ((content,),) = connection.execute(load("logs", "remote_bytes", address=literal(remote.pattern))).fetchall()
            file.write(content)
        else:
            query = load("logs", "remote_lines", address=literal(remote.pattern), longest_line=str(LONGEST_COPIED_LINE))
            connection.execute(query)
            while lines := connection.fetchmany(LINES_AT_ONCE):
                file.write(b"".join(f"{line}\n".encode() for (line,) in lines))
            if file.tell() == remote.size + 1:
                file.truncate(remote.size)  # the last line has no newline there
        file.flush()
        size = os.fstat(file.fileno()).st_size
    if size != remote.size:
        raise InputError(
            f"{addresses.shown(remote.address)}: has {remote.size} bytes, of which DuckDB read {size}; it was changed "
            "meanwhile, or has blank lines: copy it to this machine and name the copy"
        )
