from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import plan_event, response_event, retraction_event, sample, sample_change_event, write_log
from tests.conftest import Keval


def a_log(folder: Path, *ids: str) -> Path:
    return write_log(folder / "run.jsonl", [response_event(each, id=each) for each in ids])


def test_a_retraction_is_appended_and_nothing_is_changed(keval: Keval, tmp_path: Path) -> None:
    """The earlier bytes stay; the new event names its target, reason and author."""
    log = a_log(tmp_path, "abc123", "abd")
    before = log.read_bytes()
    done = keval("retract", log, "abc", "--reason", "ambiguous", "--author", "me")
    assert done.returncode == 0, done.stderr
    assert log.read_bytes().startswith(before)
    assert b'"target":"abc123","reason":"ambiguous","author":"me"' in log.read_bytes()


@pytest.mark.slow
def test_several_events_are_retracted_at_once_or_none(keval: Keval, tmp_path: Path) -> None:
    """Each once; where one of the ids is wrong all that is wrong is said, and the log stays as it is."""
    log = a_log(tmp_path, "a1", "b1", "c1", "c2")
    before = log.read_bytes()
    done = keval("retract", log, "a1", "x", "c", "--reason", "why")
    assert (done.returncode, done.stderr.count("\n")) == (2, 2), done.stderr
    assert log.read_bytes() == before
    assert keval("retract", log, "a1", "--reason", "why").returncode == 0
    done = keval("retract", log, "a", "b", "b1", "c2", "--reason", "why")
    assert done.stderr.splitlines() == [
        "keval: a1 is retracted already; nothing of it was written", "keval: retracted b1", "keval: retracted c2",
    ]  # fmt: skip
    lines = log.read_bytes().splitlines()
    assert [line.partition(b'"target":"')[2][:2] for line in lines if b'"target"' in line] == [b"a1", b"b1", b"c2"]


@pytest.mark.slow
def test_an_id_that_is_not_there_or_not_unique_is_refused(keval: Keval, tmp_path: Path) -> None:
    """Nothing is guessed: no match and two matches are usage errors."""
    log = a_log(tmp_path, "abc", "abd")
    for prefix, said in (("x", "no event"), ("ab", "2 events")):
        done = keval("retract", log, prefix, "--reason", "why")
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_what_a_run_planned_cannot_be_retracted(keval: Keval, tmp_path: Path) -> None:
    """The next run says anew what is planned and which record of a sample is the newest; a retraction is for good."""
    answer = response_event()
    taken_back = retraction_event(answer)
    events = [plan_event(["q"], id="p1"), sample_change_event(sample(), "note", id="c1"), answer, taken_back]
    log = write_log(tmp_path / "run.jsonl", events)
    for target in ("p1", "c1", taken_back["id"]):
        done = keval("retract", log, target, "--reason", "why")
        assert (done.returncode, "cannot be retracted" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_an_empty_reason_and_a_second_retraction_write_nothing(keval: Keval, tmp_path: Path) -> None:
    """A reason says something, and what is retracted already is not retracted again: the log stays as it is."""
    log = a_log(tmp_path, "abc")
    before = log.read_bytes()
    for option in (("--reason", " "), ("--reason", "why", "--author", "")):
        done = keval("retract", log, "abc", *option)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert log.read_bytes() == before
    assert keval("retract", log, "abc", "--reason", "why").returncode == 0
    before = log.read_bytes()
    again = keval("retract", log, "abc", "--reason", "why")
    assert (again.returncode, again.stderr) == (0, "keval: abc is retracted already; nothing was written\n")
    assert log.read_bytes() == before
