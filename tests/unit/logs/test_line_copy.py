"""Properties of a copy of lines that come only once."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import EnvironmentLacksError, InputError
from keval.events import encode, event
from keval.logs.line_copy import LineCopy, copied
from keval.logs.stream import Reader
from keval.projections.growing import BrokenOffError, GrowingFile
from keval.projections.log_file import LogFile

TIME = {"time": "2026-11-20T11:00:00.123Z"}


def lines(*sizes: int) -> list[bytes]:
    """Return events, whose reasons have so many letters."""
    made = (event("retraction", "a" * 24, "r", target="t", reason="x" * size, author=None) for size in sizes)
    return [encode(each | TIME) for each in made]


def reader(raw: bytes) -> Reader:
    return Reader(io.BytesIO(raw), "log", print, chunk=300)


@given(sizes=st.lists(st.integers(1, 600), max_size=12), piece=st.integers(1, 2000))
def test_both_parts_together_are_all_lines(sizes: list[int], piece: int) -> None:
    """The first part has enough for a piece, or all; what is said of the whole is what is read of it."""
    written = lines(*sizes)
    passed: list[bytes] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy"
        ended: list[int] = []
        copy = LineCopy(
            GrowingFile(path, piece),
            reader(b"".join(written)).stretches(),
            passed.append,
            lambda: ended.append(len(passed)),
        )
        copy.begin()
        first = path.read_bytes()
        assert first == b"".join(passed)
        assert copy.is_whole == bool(ended) == (len(first) < piece)
        where = copy.rest()
        assert ended == [len(passed)]
        assert path.read_bytes() == b"".join(passed) == b"".join(written)
        assert where == LogFile(path, "copy").where


def test_a_line_that_is_no_event_breaks_off_what_grows(tmp_path: Path) -> None:
    """Who reads meanwhile does not wait for what will never come, and what was copied is not taken for the whole."""
    ended: list[str] = []
    growing = GrowingFile(tmp_path / "copy", 1)
    stretches = reader(b"".join(lines(300, 300)) + b"{}\n").stretches()
    copy = LineCopy(growing, stretches, on_end=lambda: ended.append("over"))
    copy.begin()
    for _ in range(2):
        with pytest.raises(InputError, match="log:3"):
            copy.rest()
    assert ended == ["over"]
    with pytest.raises(BrokenOffError):
        list(growing.pieces())


@pytest.mark.parametrize("error", [None, InputError("a wrong query")])
def test_what_nobody_reads_is_taken_in_and_passed_on(error: InputError | None, tmp_path: Path) -> None:
    """Whoever writes into a pipe can write to its end, be it that the command after it has failed."""
    written, passed = lines(300, 300, 300), list[bytes]()
    copy = LineCopy(GrowingFile(tmp_path / "copy", 1), reader(b"".join(written)).stretches(), passed.append)
    copy.begin()
    assert len(b"".join(passed)) < len(b"".join(written))
    copy.pass_on_rest(None, error, None)
    assert b"".join(passed) == b"".join(written)


def test_lines_for_whose_copy_there_is_no_room_are_passed_on(tmp_path: Path) -> None:
    """They may have been paid for, and stand nowhere else."""
    written, passed = lines(300, 300, 300), list[bytes]()
    gone = tmp_path / "no" / "copy"
    copy = LineCopy(GrowingFile(gone, 1), reader(b"".join(written)).stretches(), passed.append)
    with pytest.raises(EnvironmentLacksError) as told:
        copy.begin()
    copy.pass_on_rest(None, told.value, None)
    assert b"".join(passed) == b"".join(written)


def test_after_ctrl_c_or_where_nobody_takes_lines_none_is_passed_on(tmp_path: Path) -> None:
    """Who interrupts a command does not wait, and what could not be written is not written again."""
    raw, passed = b"".join(lines(300, 300)), list[bytes]()
    copy = LineCopy(GrowingFile(tmp_path / "copy", 1), reader(raw).stretches(), passed.append)
    copy.pass_on_rest(None, KeyboardInterrupt(), None)
    assert passed == []

    def full(part: bytes) -> None:
        passed.append(part)
        raise EnvironmentLacksError("stdout: No space left on device")

    copy = LineCopy(GrowingFile(tmp_path / "copy", 1), reader(raw).stretches(), full)
    with pytest.raises(EnvironmentLacksError) as told:
        copy.begin()
    copy.pass_on_rest(None, told.value, None)
    assert len(passed) == 1


def test_a_copy_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The message names the file and the way out."""
    with pytest.raises(EnvironmentLacksError, match="TMPDIR names another folder"):
        copied(reader(b"".join(lines(3))).stretches(), tmp_path / "no" / "folder")
