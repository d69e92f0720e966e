from __future__ import annotations

import io
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import InputError
from keval.events import encode, event
from keval.ids import JsonObject
from keval.logs.stream import Reader, read


def a_retraction(number: int) -> JsonObject:
    return event("retraction", f"r{number}", "run", target="t", reason="x\u2028y", author=None)


def lines(*events: JsonObject) -> bytes:
    return b"".join(encode(each) for each in events)


def test_a_bad_line_names_file_line_path_and_what_is_wrong(tmp_path: Path) -> None:
    """Line 3 of a log that breaks its schema is named as such."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines(a_retraction(1), a_retraction(2)) + b'{"type":"retraction","v":1}\n')
    with pytest.raises(InputError, match=rf"^{path}:3: \$"):
        list(read(path, lambda _: None))


@pytest.mark.parametrize("written", [b'{"question":"q"}\n', b'{\n  "question": "q"\n}', b"question,answer"])
def test_a_file_of_another_kind_is_named_and_so_is_a_pipe(tmp_path: Path, written: bytes) -> None:
    """Instead of what is wrong with its first line; who leaves invalid lines out is told of the line."""
    path = tmp_path / "questions"
    path.write_bytes(written)
    with pytest.raises(InputError, match=rf"^{path} is not a keval log: it "):
        list(read(path, lambda _: None))
    with pytest.raises(InputError, match=r"^stdin is not a keval log: it "):
        list(Reader(io.BytesIO(written), "stdin", lambda _: None))
    assert not list(read(path, lambda _: None, skip_invalid=True))


def test_skip_invalid_counts_and_names_what_it_leaves_out() -> None:
    """A skipped line is counted and said; the others are read."""
    said: list[str] = []
    reader = Reader(io.BytesIO(b"{oops\n" + lines(a_retraction(1))), "run.jsonl", said.append, skip_invalid=True)
    assert [line.event["id"] for line in reader] == ["r1"]
    assert reader.skipped == 1
    assert said[0].startswith("run.jsonl:1: skipped: ")


def test_a_cut_off_last_line_is_left_out_and_said() -> None:
    """A line without its end is no error: its writer may still be at it."""
    said: list[str] = []
    reader = Reader(io.BytesIO(lines(a_retraction(1)) + b'{"type":"retr'), "run.jsonl", said.append)
    assert [line.number for line in reader] == [1]
    assert reader.torn
    assert "cut off" in said[0]


def test_a_whole_last_line_without_newline_is_read_and_completed() -> None:
    """The last event of a pipe counts even without its newline, and is passed on with one."""
    reader = Reader(io.BytesIO(lines(a_retraction(1)).rstrip(b"\n")), "stdin", lambda _: None)
    assert next(iter(reader)).raw.endswith(b"}\n")


def test_lines_of_unknown_type_are_passed_through() -> None:
    """A type that this version does not know is data, not an error."""
    raw = b'{"type":"future","v":1,"id":"x","time":"2026-11-20T10:00:00.000Z","run_id":"r","new":[1]}\n'
    assert [line.raw for line in Reader(io.BytesIO(raw), "stdin", lambda _: None)] == [raw]


def test_a_key_that_stands_twice_is_refused_with_coordinates(tmp_path: Path) -> None:
    """A line of which two readers would read different scores is no event, wherever the second key stands."""
    whole = encode(a_retraction(2)).replace(b'"reason":', b'"reason":"another","reason":')
    path = tmp_path / "run.jsonl"
    for end in (b"\n", b""):
        path.write_bytes(lines(a_retraction(1)) + whole.rstrip(b"\n") + end)
        with pytest.raises(InputError, match=rf"^{path}:2: \$: the key 'reason' stands twice"):
            list(read(path, lambda _: None))


VALID = lines(a_retraction(1)).removesuffix(b"\n")
PIECES = [
    *(VALID, VALID, VALID.replace(b"r1", b"r2"), VALID.replace(b'":', b'": '), VALID.replace(b'"v":1', b'"v":2')),
    *(b"", b" ", b"\r", VALID + b"\r", b"\xef\xbb\xbf" + VALID, VALID[:-1], b"{oops", b"\xff", VALID + VALID),
    b'{"type":"future","v":1,"id":"x","time":"2026-11-20T10:00:00.000Z","run_id":"r","new":[1]}',
]
"""Lines that are valid, valid but written in another way, blank, and wrong."""


def outcome(read_all: Callable[[Reader], list[tuple[int, bytes]]], raw: bytes, **options: Any) -> tuple[object, ...]:  # noqa: ANN401 - options of the reader
    """Return all that a reader gives and says."""
    said: list[str] = []
    reader = Reader(io.BytesIO(raw), "run.jsonl", said.append, **options)
    try:
        found: object = read_all(reader)
    except InputError as error:
        found = str(error)
    return found, said, reader.skipped, reader.torn


def by_stretches(reader: Reader) -> list[tuple[int, bytes]]:
    """Return the lines of stretches with their places."""
    found = []
    for stretch in reader.stretches():
        ends = list(accumulate(stretch.lengths))
        assert ends[-1] == len(stretch.raw)
        begins = [0, *ends[:-1]]
        found += [(stretch.offset + begin, stretch.raw[begin:end]) for begin, end in zip(begins, ends, strict=True)]
    return found


@given(
    st.lists(st.sampled_from(PIECES), max_size=12),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 100, 400, 10**6]),
    st.sampled_from([0, 0, 3, 100]),
)
def test_stretches_are_the_lines(pieces: list[bytes], ended: bool, skip_invalid: bool, chunk: int, slow: int) -> None:
    """Whatever stands in a log: the same lines at the same places, the same words and counts as one by one."""
    raw = b"\n".join(pieces) + b"\n" * ended
    fast = outcome(by_stretches, raw, skip_invalid=skip_invalid, chunk=chunk, one_by_one=slow)
    assert fast == outcome(lambda reader: [(line.offset, line.raw) for line in reader], raw, skip_invalid=skip_invalid)


def test_a_log_can_be_read_from_a_place_on() -> None:
    """The offset and the number of the line at which a stream stands are those from which places are counted."""
    raw = lines(a_retraction(1), a_retraction(2))
    reader = Reader(io.BytesIO(raw + b"oops\n"), "run.jsonl", lambda _: None)
    reader.source.seek(len(raw) // 2)
    stretches = reader.stretches(len(raw) // 2, 2)
    with pytest.raises(InputError, match=r"^run.jsonl:3: "):
        list(stretches)


def test_valid_lines_without_anything_between_them_are_one_stretch() -> None:
    """A line that had to be parsed does not divide what stands around it."""
    raw = b"\n".join([VALID, VALID.replace(b'":', b'": '), VALID, b"", VALID, b""])
    reader = Reader(io.BytesIO(raw), "run.jsonl", lambda _: None, one_by_one=0)
    assert [len(stretch.lengths) for stretch in reader.stretches()] == [3, 1]
