"""Properties of a file that is read while it is written."""

from __future__ import annotations

import resource
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import EnvironmentLacksError
from keval.projections.growing import Growing


def _read(growing: Growing) -> list[bytes]:
    pieces = [piece.read_bytes() for piece in growing.pieces()]
    with growing.rest() as rest:
        return [*pieces, rest.read_bytes()]


def _write(growing: Growing, lines: list[bytes]) -> None:
    try:
        with growing.path.open("wb") as file:
            for line in lines:
                file.write(line)
                file.flush()
                growing.reaches(file.tell())
    finally:
        growing.ends()


@given(sizes=st.lists(st.integers(1, 40), max_size=20), piece=st.integers(1, 100))
def test_pieces_are_the_whole_file_in_order_and_end_where_lines_end(sizes: list[int], piece: int) -> None:
    """Whatever the writer and the reader take turns at, each byte is in one piece, and no line in two."""
    lines = [bytes([65 + number]) * size + b"\n" for number, size in enumerate(sizes)]
    with tempfile.TemporaryDirectory() as folder:
        growing = Growing(Path(folder) / "lines", piece)
        writer = threading.Thread(target=_write, args=(growing, lines))
        writer.start()
        read = _read(growing)
        writer.join()
    assert b"".join(read) == b"".join(lines)
    assert all(part.endswith(b"\n") for part in read if part)
    assert all(len(part) >= piece for part in read[:-1])


def test_a_piece_can_be_read_before_the_next_line_comes(tmp_path: Path) -> None:
    """The reader need not wait for the end."""
    growing = Growing(tmp_path / "lines", piece=4)
    growing.path.write_bytes(b"abc\n")
    growing.reaches(4)
    pieces = growing.pieces()
    assert next(pieces).read_bytes() == b"abc\n"
    growing.ends()
    assert list(pieces) == []
    with growing.rest() as rest:
        assert rest.read_bytes() == b""


def test_a_file_that_was_whole_before_it_is_read_is_one_rest(tmp_path: Path) -> None:
    """Who has written all before anybody reads has nobody wait."""
    growing = Growing(tmp_path / "lines", piece=2)
    _write(growing, [b"ab\n", b"cd\n"])
    assert _read(growing) == [b"ab\ncd\n"]


def test_after_an_error_nobody_waits_and_nothing_more_is_read(tmp_path: Path) -> None:
    """A reader that waits goes on, and what the writer has written without it is not looked at."""
    growing = Growing(tmp_path / "lines", piece=100)
    growing.path.write_bytes(b"ab\n")
    growing.reaches(3)
    growing.leave()
    assert _read(growing) == [b""]


def test_of_a_piece_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large log is on the disk once and a piece more, not twice."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    growing = Growing(tmp_path / "lines", piece=2)
    growing.path.write_bytes(b"ab\ncd\n")
    growing.reaches(3)
    pieces = growing.pieces()
    first = next(pieces)
    growing.reaches(6)
    second = next(pieces)
    assert (first.exists(), second.read_bytes()) == (False, b"cd\n")
    growing.ends()
    assert list(pieces) == []
    assert list(tmp_path.iterdir()) == [growing.path]


def test_a_piece_for_which_there_is_no_room_is_told(tmp_path: Path) -> None:
    """The message names the way out."""
    growing = Growing(tmp_path / "lines")
    growing.path.write_bytes(b"a\n")
    growing.reaches(2)
    growing.ends()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        with pytest.raises(EnvironmentLacksError, match="TMPDIR names another folder"), growing.rest():
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
