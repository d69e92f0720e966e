"""What is new in a log is counted as it comes, and never twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.events import encode
from keval.viewer import news
from keval.viewer.news import News, ReadUpTo
from tests.builders import failure_event, judgment_event, response_event, write_log

RESPONSE = response_event()


def append(log: Path, *lines: bytes) -> None:
    with log.open("ab") as file:
        file.writelines(lines)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "run.jsonl", [RESPONSE])


def test_what_is_appended_is_counted(log: Path) -> None:
    """Answers and judgments are told apart; nothing is said as long as nothing came."""
    found = News([ReadUpTo.of(log)])
    assert found.look() is None
    append(log, encode(response_event("q2")))
    assert found.look() == "1 new answer"
    append(log, encode(judgment_event(RESPONSE)), encode(response_event("q3")))
    assert found.look() == "2 new answers and 1 new judgment"
    assert found.look() == "2 new answers and 1 new judgment"


def test_a_line_counts_when_it_is_whole(log: Path) -> None:
    """A writer may be in the middle of one, now or when the log was read."""
    line = encode(failure_event(RESPONSE))
    append(log, line[:20])
    found = News([ReadUpTo.of(log)])
    assert found.look() is None
    append(log, line[20:])
    assert found.look() == "1 new event"


def test_a_log_that_was_replaced_is_told(log: Path) -> None:
    """Another file of its name, a shorter one, and none."""
    for change in (lambda: log.write_bytes(b""), lambda: log.rename(f"{log}.old"), log.unlink):
        write_log(log, [RESPONSE, RESPONSE])
        found = News([ReadUpTo.of(log)])
        change()
        assert found.look() == "the log is another one now"


def test_a_long_line_has_its_end_found(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the last whole line is looked for as far back as it takes."""
    monkeypatch.setattr(news, "AT_ONCE", 16)
    size = log.stat().st_size
    append(log, b"x" * 100)
    assert ReadUpTo.of(log).end == size
    log.write_bytes(b"x" * 100)
    assert ReadUpTo.of(log).end == 0
