"""Properties of a file that is read while it is written."""

from __future__ import annotations

import resource
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import EnvironmentLacksError
from keval.projections.growing import BrokenOffError, GrowingFile


def _read(pieces: Iterator[tuple[Path, bool]]) -> list[tuple[bytes, bool]]:
    return [(piece.read_bytes(), is_last) for piece, is_last in pieces]


def _append(growing: GrowingFile, line: bytes) -> None:
    with growing.path.open("ab") as file:
        file.write(line)
    growing.reaches(growing.path.stat().st_size)


@given(steps=st.lists(st.integers(1, 60), max_size=20), piece=st.integers(1, 100))
def test_pieces_are_the_whole_file_in_order_and_end_where_lines_end(steps: list[int], piece: int) -> None:
    """Whenever the reader takes its turn, each byte is in one piece, no line in two, and only the last may be small."""
    with tempfile.TemporaryDirectory() as folder:
        growing = GrowingFile(Path(folder) / "lines", piece)
        growing.path.touch()
        pieces, read, unread = growing.pieces(), list[bytes](), 0
        for number, size in enumerate(steps):
            _append(growing, bytes([65 + number]) * size + b"\n")
            unread += size + 1
            if unread >= piece and size % 2:
                path, is_last = next(pieces)
                read.append(path.read_bytes())
                assert (len(read[-1]), is_last) == (unread, False)
                unread = 0
        growing.ends()
        for part, is_last in _read(pieces):
            read.append(part)
            assert (len(part), is_last) == (unread, True)
        assert b"".join(read) == growing.path.read_bytes()
    assert all(part.endswith(b"\n") for part in read if part)


def test_a_reader_waits_for_a_writer_in_another_thread() -> None:
    """However the two take turns, what is read is what was written."""
    with tempfile.TemporaryDirectory() as folder:
        growing = GrowingFile(Path(folder) / "lines", piece=1000)
        growing.path.touch()

        def write() -> None:
            for number in range(500):
                _append(growing, b"%d\n" % number)
            growing.ends()

        writer = threading.Thread(target=write)
        writer.start()
        read = _read(growing.pieces())
        writer.join()
    assert b"".join(part for part, _ in read) == b"".join(b"%d\n" % number for number in range(500))
    assert [is_last for _, is_last in read] == [False] * (len(read) - 1) + [True]


def test_a_whole_file_is_one_piece_for_everybody_who_reads_it(tmp_path: Path) -> None:
    """Nobody waits for what has been written, and what one has read is there for the next one."""
    growing = GrowingFile(tmp_path / "lines", piece=2)
    for line in (b"ab\n", b"cd\n"):
        _append(growing, line)
    growing.ends()
    for _ in range(2):
        assert _read(growing.pieces()) == [(b"ab\ncd\n", True)]


def test_of_a_file_that_breaks_off_nothing_more_is_read(tmp_path: Path) -> None:
    """A reader that waits goes on with an error, also where enough has come for a piece."""
    growing = GrowingFile(tmp_path / "lines", piece=2)
    _append(growing, b"ab\n")
    pieces = growing.pieces()
    assert next(pieces)[0].read_bytes() == b"ab\n"
    _append(growing, b"cd\n")
    growing.breaks_off()
    with pytest.raises(BrokenOffError):
        next(pieces)


def test_of_a_piece_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read takes no room on the disk a second time."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    growing = GrowingFile(tmp_path / "lines", piece=2)
    _append(growing, b"ab\n")
    pieces = growing.pieces()
    first, _ = next(pieces)
    _append(growing, b"cd\n")
    second, _ = next(pieces)
    assert (first.exists(), second.read_bytes()) == (False, b"cd\n")
    growing.ends()
    assert _read(pieces) == [(b"", True)]
    assert list(tmp_path.iterdir()) == [growing.path]


def test_no_piece_takes_the_room_that_the_file_needs(tmp_path: Path) -> None:
    """A file that is larger than what is left on the disk is not copied in part."""
    growing = GrowingFile(tmp_path / "lines", piece=1)
    growing.reaches(2**60)
    with pytest.raises(EnvironmentLacksError, match="no room for a part"):
        next(growing.pieces())


def test_a_piece_for_which_there_is_no_room_is_told(tmp_path: Path) -> None:
    """The message names the way out."""
    growing = GrowingFile(tmp_path / "lines")
    _append(growing, b"ab\n")
    growing.ends()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        with pytest.raises(EnvironmentLacksError, match="TMPDIR names another folder"):
            next(growing.pieces())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
