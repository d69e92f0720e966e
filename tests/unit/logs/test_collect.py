from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.events import encode, event
from keval.logs.collect import collected


def lines(*ids: str) -> bytes:
    return b"".join(encode(event("retraction", each, "r", target="t", reason="x", author=None)) for each in ids)


def test_a_whole_log_is_used_as_it_is(tmp_path: Path) -> None:
    """No copy is made of a log in which every line is a valid event."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(lines("a", "b"))
    with collected([log], lambda _: None) as paths:
        assert paths == [log]


@pytest.mark.parametrize("tail", [b'{"type":"ret', b"\n\n", lines("c").rstrip(b"\n")])
def test_what_is_not_a_line_is_left_out_of_a_copy(tmp_path: Path, tail: bytes) -> None:
    """Cut-off and blank lines stay in the log and are not given on; a whole last line gets its newline."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(lines("a") + tail)
    with collected([log], lambda _: None) as (copy,):
        assert copy != log
        assert copy.read_bytes().startswith(lines("a")[:40])
        assert copy.read_bytes().endswith(b"}\n")
    assert log.read_bytes().endswith(tail)
    assert not copy.exists()


def test_a_bad_line_stops_unless_it_shall_be_skipped(tmp_path: Path) -> None:
    """Skipping is explicit, and names the line."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"{}\n" + lines("a"))
    with pytest.raises(InputError, match=r"run\.jsonl:1: "), collected([log], lambda _: None):
        pass
    said: list[str] = []
    with collected([log], said.append, skip_invalid=True) as (copy,):
        assert copy.read_bytes().count(b"\n") == 1
    assert "run.jsonl:1: skipped" in said[0]


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The message holds the path and the reason."""
    with (
        pytest.raises(InputError, match=r"nowhere\.jsonl: No such file"),
        collected([tmp_path / "nowhere.jsonl"], print),
    ):
        pass


def test_a_pipe_with_a_name_is_read_once(tmp_path: Path) -> None:
    """What a shell gives as `<(command)` becomes a copy, checked like any log."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=[lines("a", "b")])
    writer.start()
    with collected([fifo], lambda _: None) as (copy,):
        writer.join()
        assert copy.read_bytes().count(b"\n") == 2
