from __future__ import annotations

import re

import orjson
import pytest

from keval.errors import KevalError
from keval.events import encode, event, failure_id, new_run_id, now


def test_time_is_utc_with_milliseconds() -> None:
    """Times are RFC 3339 in UTC with exactly three decimals."""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now())


def test_an_event_begins_with_its_envelope() -> None:
    """The envelope's fields come first, in one order."""
    made = event("retraction", "x", "r", target="t", reason="y", author=None)
    assert list(made)[:5] == ["type", "v", "id", "time", "run_id"]


def test_a_line_is_one_line() -> None:
    """Line feeds inside strings are escaped: only the last byte is a newline."""
    line = encode(event("retraction", "x", "r", target="t", reason="a\nb\u2028c", author=None))
    assert line.count(b"\n") == 1
    assert orjson.loads(line)["reason"] == "a\nb\u2028c"


def test_an_invalid_event_is_refused() -> None:
    """An event that its schema refuses is a bug, not a line."""
    with pytest.raises(KevalError, match="schema"):
        encode(event("retraction", "x", "r", target="t"))


def test_failures_of_one_task_in_two_runs_are_two_events() -> None:
    """Each run's failure of a task has an id of its own; the same failure has one."""
    assert failure_id("t", "a") == failure_id("t", "a") != failure_id("t", "b")
    assert new_run_id() != new_run_id()
