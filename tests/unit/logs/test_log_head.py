"""A log is known by how it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.events import encode
from keval.logs.log_head import begins_as_log, begins_with_event, is_by_keval, line_begins
from keval.schema import EVENT_TYPES
from tests.builders import response_event, run_event


@pytest.mark.parametrize(
    ("content", "is_log"),
    [
        (b'{"type":"run","v":1,"id":"', True),
        (b'{"type":"run","v":1,"id":"0123456789abcdef","ti', True),
        (b'{"type":"ru', True),
        (b'{"type":"retraction","v', True),
        (b'{"type":"Feature', False),
        (b'\n\n{"type":"response","v":1,"id":"a"', True),
        (b'garbage\n{"run_id":"r","time":"t","id":"i","v":1,"type":"run"}\n', True),
        (b'{"run_id":"r","time":"t","id":"i","v":1,"type":"run","text":"%s"}\n' % (b"x" * 200_000), True),
        (
            b"\n" * 200_000 + b'{"run_id":"r","time":"t","id":"i","v":1,"type":"run","text":"%s"}\n' % (b"x" * 200_000),
            True,
        ),
        (b"\n" * 200_000, False),
        (b"", False),
        (b"{", True),
        (b"{}", False),
        (b'{"type":"FeatureCollection","features":[]}', False),
        (b'{"id":"q1","question":"Why?","answer":"Because."}\n', False),
        (b"[1, 2]\n", False),
        (b"x" * 200_000, False),
        (b"\x00\xff\n\x00", False),
    ],
)
def test_a_log_is_known_by_its_beginning(content: bytes, is_log: bool, tmp_path: Path) -> None:
    """An event among the first lines makes a log, also one that a crash cut off or another tool wrote."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with path.open("rb") as opened:
        assert begins_as_log(opened.fileno()) is is_log


@pytest.mark.parametrize("event", [run_event(), response_event()])
def test_what_keval_writes_begins_as_is_said_here(event: dict[str, object]) -> None:
    """The constants are those of `encode`: another order of the envelope would have to change both."""
    line = encode(event)
    assert is_by_keval(line)
    assert [name for name in EVENT_TYPES if line.startswith(line_begins(name))] == [event["type"]]


def test_rows_of_another_tool_may_begin_as_events_do() -> None:
    """A log to be imported is refused by its first event; a type that keval does not have may be another tool's."""
    assert begins_with_event(b'{"type":"response","v":1,"id":"a"')
    assert not begins_with_event(b'{"type":"qa","v":1,"id":"a"')
