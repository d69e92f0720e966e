"""A text that nobody had the room to read is not called wrong."""

from __future__ import annotations

import orjson
import pytest

from keval.documents.strict_json import parse
from keval.json_text import loads


def test_too_little_memory_is_no_fault_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is left out because there was no room to read it would make every number wrong."""

    def refuse(raw: bytes) -> None:
        raise orjson.JSONDecodeError("Not enough memory to allocate buffer for parsing", raw.decode(), 0)

    monkeypatch.setattr(orjson, "loads", refuse)  # with as little as that, the process may as well end
    with pytest.raises(MemoryError, match="a line of 7 bytes"):
        parse(b'{"a":1}')


def test_what_is_no_json_is_told_as_that() -> None:
    """The error is that of the parser, with its place."""
    with pytest.raises(orjson.JSONDecodeError, match="line 1 column 2"):
        loads(b"{")
    assert loads('{"a":1}') == {"a": 1}
