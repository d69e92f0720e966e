"""Reads what whole lines say: texts stay in the log, and are read from there when somebody asks for them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from keval.errors import EnvironmentLacksError, InputError
from keval.ids import JsonObject
from keval.json_text import loads
from keval.projections.log_file import ChangedError, LogFile

if TYPE_CHECKING:
    import duckdb

READ_AT_ONCE = 4096
"""Bytes that are read of a line at first; most lines are shorter."""


@contextmanager
def functions_over(connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile]) -> Iterator[None]:
    """Let a connection call `field_at(file, line_offset, name)`, which reads the files; these are numbered from 1.

    It gives a field as it stands in a line, as JSON; null if it does not. DuckDB holds thousands of rows at once, so it
    is not given whole lines, each of which may have 30 MB of what a tool returned. DuckDB loads numpy for a function.
    Raises InputError when a log cannot be opened. A query raises InvalidInputException with the words of ChangedError
    when a line is no longer there.
    """
    import msgspec
    from duckdb.func import FunctionNullHandling

    with descriptors_of(logs) as descriptors:

        def field(file: int, offset: int, name: str) -> str | None:
            try:
                value = bytes(_only(name).decode(line_in(descriptors[file - 1], offset)).value)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ChangedError(logs[file - 1].name) from error
            return value.decode() or None

        connection.create_function(
            "field_at", field, ["SMALLINT", "BIGINT", "VARCHAR"], "VARCHAR", null_handling=FunctionNullHandling.SPECIAL
        )
        yield


@cache
def _only(name: str) -> Any:  # noqa: ANN401 - a decoder of a type that is made here
    """Return what reads one field of a line as it stands there, and passes over the others."""
    import msgspec

    only = msgspec.defstruct("Only", [("value", msgspec.Raw, msgspec.Raw())], rename={"value": name})
    return msgspec.json.Decoder(only)


EventAt = Callable[[int, int], JsonObject]
"""What returns the event in the line of a file, numbered from 1, that begins at a byte."""


@contextmanager
def events_of(logs: Sequence[LogFile]) -> Iterator[EventAt]:
    """Give what reads events of logs. Raises InputError when a log cannot be opened.

    What is given raises ChangedError where no event stands any more.
    """
    with descriptors_of(logs) as descriptors:

        def event_at(file: int, offset: int) -> JsonObject:
            try:
                event = loads(line_in(descriptors[file - 1], offset))
            except (OSError, ValueError) as error:
                raise ChangedError(logs[file - 1].name) from error
            if not isinstance(event, dict):
                raise ChangedError(logs[file - 1].name)
            return event

        yield event_at


def line_in(descriptor: int, offset: int) -> str:
    """Return the line of an open file that begins at a byte, without its newline."""
    # Not seek and read: DuckDB's threads call this in turn.
    line = os.pread(descriptor, READ_AT_ONCE, offset)
    while (end := line.find(b"\n")) < 0:
        more = os.pread(descriptor, max(READ_AT_ONCE, len(line)), offset + len(line))
        if not more:
            return line.decode()
        line += more
    return line[:end].decode()


@contextmanager
def descriptors_of(logs: Sequence[LogFile]) -> Iterator[list[int]]:
    """Open the files of logs and give their descriptors. Raises InputError, EnvironmentLacksError."""
    with ExitStack() as open_:
        yield [_open(log, open_) for log in logs]


def _open(log: LogFile, opened: ExitStack) -> int:
    try:
        descriptor = os.open(log.path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.EMFILE:
            raise EnvironmentLacksError(
                f"{log.name}: {error.strerror}: this shell allows too few (`ulimit -n`); read fewer logs at once, or"
                " `cat` them into one"
            ) from error
        raise InputError(f"{log.name}: {error.strerror}") from error
    opened.callback(os.close, descriptor)
    return descriptor
