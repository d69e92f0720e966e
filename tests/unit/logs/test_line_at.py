from __future__ import annotations

from pathlib import Path

import pytest

from keval.errors import InputError
from keval.logs.line_at import event_at, record_at
from tests.builders import response_event, run_event, sample, write_log


def test_a_line_is_read_by_where_it_begins(tmp_path: Path) -> None:
    """Only that line is, and its sample is what its response was asked from."""
    log = write_log(tmp_path / "log.jsonl", [run_event(), response_event("q1"), run_event()])
    offset = log.read_bytes().index(b"\n") + 1
    assert event_at(log, offset) == response_event("q1")
    assert record_at(log, offset) == sample("q1")


@pytest.mark.parametrize("offset", [1, 10**9])
def test_a_log_that_changed_is_told(tmp_path: Path, offset: int) -> None:
    """Where a line began stands the middle of another one, or nothing any more."""
    log = write_log(tmp_path / "log.jsonl", [run_event()])
    with pytest.raises(InputError, match=f"the line at byte {offset} was changed while the log was read"):
        event_at(log, offset)


def test_a_line_that_is_now_another_one_is_told(tmp_path: Path) -> None:
    """A valid line stands there, but not what was to be read."""
    log = write_log(tmp_path / "log.jsonl", [run_event()])
    with pytest.raises(InputError, match="byte 0 was changed while the log was read: it has no sample"):
        record_at(log, 0)
    with pytest.raises(InputError, match="byte 0 was changed while the log was read: it is no response"):
        event_at(log, 0, "response")
    log.write_text("[]\n")
    with pytest.raises(InputError, match="it is no event"):
        record_at(log, 0)


def test_a_log_that_is_gone_is_told(tmp_path: Path) -> None:
    """A log that was removed is an error with its name."""
    with pytest.raises(InputError, match=r"gone\.jsonl"):
        event_at(tmp_path / "gone.jsonl", 0)
