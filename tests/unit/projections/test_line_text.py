"""Properties of texts that queries read from a log."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import duckdb
import pytest

from keval.errors import EnvironmentLacksError, InputError
from keval.projections.line_text import READ_AT_ONCE, descriptors_of, functions_over, line_in
from keval.projections.log_file import LogFile

LINES = [
    b'{"a":1.50,"b":"\\u00e9 \\" x","c":null}',
    b'{ "a" : {"z": [1, 2]} }',
    b'{"b":"' + b"y" * 3 * READ_AT_ONCE + b'"}',
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.write_bytes(b"\n".join(LINES))
    return path


@pytest.mark.parametrize("number", range(3))
def test_a_line_is_read_to_its_end(log: Path, number: int) -> None:
    """Also a long one, and the last one, which may have no newline."""
    descriptor = os.open(log, os.O_RDONLY)
    offset = sum(len(line) + 1 for line in LINES[:number])
    assert line_in(descriptor, offset) == LINES[number].decode()
    os.close(descriptor)


def test_a_field_is_given_as_it_stands_in_its_line(log: Path, tmp_path: Path) -> None:
    """Numbers keep their digits; a field that is not there is no text, and one that is null is `null`."""
    second = tmp_path / "second"
    second.write_bytes(b'{"a":"other"}\n')
    with duckdb.connect() as connection, functions_over(connection, [LogFile(log, "-"), LogFile(second, "two")]):
        first = len(LINES[0]) + 1

        def field(file: int, offset: int, name: str) -> object:
            query = f"select field_at({file}::smallint, {offset}::bigint, '{name}')"
            return connection.execute(query).fetchall()[0][0]

        assert [field(1, 0, name) for name in "abcd"] == ["1.50", '"\\u00e9 \\" x"', "null", None]
        assert field(1, first, "a") == '{"z": [1, 2]}'
        assert field(2, 0, "a") == '"other"'


def test_a_log_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """The error has the name that the user knows."""
    missing = LogFile(tmp_path / "nowhere", "mine.jsonl")
    with duckdb.connect() as connection, pytest.raises(InputError, match=r"mine\.jsonl: No such"):
        functions_over(connection, [missing]).__enter__()


def test_a_line_that_is_gone_is_no_field(log: Path) -> None:
    """A log that was cut off while somebody reads it is named; nothing is guessed of what stood there."""
    with duckdb.connect() as connection, functions_over(connection, [LogFile(log, "mine.jsonl")]):
        log.write_bytes(b"")
        with pytest.raises(duckdb.InvalidInputException, match=r"mine\.jsonl: changed while it was read"):
            connection.execute("select field_at(1::smallint, 0::bigint, 'a')").fetchall()


def test_too_many_logs_for_this_shell_are_told_as_such(log: Path) -> None:
    """It is no mistake of a log: the message names the limit, and every log is closed again."""
    before = len(list(Path("/dev/fd").iterdir()))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 10, limits[1]))
    try:
        with pytest.raises(EnvironmentLacksError, match="ulimit -n"), descriptors_of([LogFile(log, "-")] * 50):
            pytest.fail("more files are open than may be")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len(list(Path("/dev/fd").iterdir())) == before
