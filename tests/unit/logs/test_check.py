"""Properties of the check of a log: what it says of lines, and that it notices what changed behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.errors import InputError
from keval.events import encode
from keval.ids import JsonObject
from keval.logs.check import Check, NotWholeError, ends_with_line
from keval.logs.fingerprint import Fingerprint
from keval.projections.log_file import ChangedError
from tests.builders import judgment_event, response_event, retraction_event, run_event, write_log

ANSWERS = [response_event(f"q{number}") for number in range(4)]
EVENTS = [run_event(samples=4), *ANSWERS]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "run.jsonl", EVENTS)


def checked(log: Path) -> Check:
    check = Check(log, print)
    check.all()
    return check


def continued(log: Path, before: Check) -> Check:
    check = Check(log, print)
    check.go_on_after(before.fingerprint(), before.lines, before.longest)
    check.all()
    return check


def append(log: Path, *events: JsonObject) -> None:
    with log.open("ab") as file:
        file.writelines(map(encode, events))


def test_a_check_says_where_lines_lie(log: Path) -> None:
    """Each offset is the first byte of a line, and the longest line is known with its end."""
    where = Check(log, print).all()
    text = log.read_bytes()
    lines = text.splitlines(keepends=True)
    assert [text[offset:].startswith(line) for offset, line in zip(where.offsets, lines, strict=True)] == [True] * 5
    assert where.longest == max(map(len, lines))


def test_a_continued_check_comes_to_what_a_whole_one_comes_to(log: Path) -> None:
    """Only new lines are looked at, and size, lines and hash are those of all."""
    before = checked(log)
    append(log, judgment_event(ANSWERS[0], 3))
    after, whole = continued(log, before), checked(log)
    assert (after.lines, after.end, after.longest) == (whole.lines, whole.end, whole.longest)
    assert (after.fingerprint().size, after.fingerprint().digest) == (whole.end, whole.fingerprint().digest)


@pytest.mark.parametrize(("event", "changes"), [(run_event(seed=1), True), (retraction_event(ANSWERS[0]), True),
                                                 (judgment_event(ANSWERS[0], 3), False)])  # fmt: skip
def test_new_lines_say_whether_they_may_change_all(log: Path, event: JsonObject, changes: bool) -> None:
    """A run and a retraction may; a judgment is about its answer."""
    before = checked(log)
    assert not before.changes_all
    append(log, event)
    assert continued(log, before).changes_all == changes


@pytest.mark.parametrize("place", [b"q0", b"q3"])
def test_an_edit_behind_a_continued_check_is_noticed(log: Path, place: bytes) -> None:
    """Lines that were checked before, and those that were just read, have to be the same when they are hashed."""
    before = checked(write_log(log, EVENTS[:3]))
    append(log, *EVENTS[3:])
    after = continued(log, before)
    log.write_bytes(log.read_bytes().replace(place, b"qX"))
    with pytest.raises(ChangedError, match="changed while it was read"):
        after.fingerprint()


def test_a_log_with_lines_that_are_left_out_is_not_whole(log: Path) -> None:
    """An invalid line is an error; where it may be skipped, the log is not what counts of it."""
    log.write_bytes(b"{}\n" + log.read_bytes())
    with pytest.raises(InputError, match=r"run\.jsonl:1: "):
        Check(log, print).all()
    with pytest.raises(NotWholeError):
        Check(log, print, skip_invalid=True).all()


def test_a_torn_line_is_not_part_of_what_was_checked(log: Path) -> None:
    """The fingerprint ends where the last whole line does."""
    size = log.stat().st_size
    with log.open("ab") as file:
        file.write(b'{"type":"judg')
    found: Fingerprint = checked(log).fingerprint()
    assert found.size == size


def test_of_what_cannot_be_read_it_is_said_why(tmp_path: Path) -> None:
    """One such log ends no command that looks at others too."""
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(InputError, match=r"a\.jsonl: Is a directory"):
        ends_with_line(tmp_path / "a.jsonl", 1)
    with pytest.raises(FileNotFoundError):
        ends_with_line(tmp_path / "b.jsonl", 1)
