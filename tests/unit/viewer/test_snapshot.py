"""All pages of a state say the same while a log is written to, and a new state is read when somebody asks for it."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.events import encode
from keval.logs.collect import collected
from keval.viewer import snapshot as snapshot_file
from keval.viewer.snapshot import Snapshot, Snapshots
from tests.builders import response_event, run_event, write_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "run.jsonl", [run_event(["baseline"]), response_event()])


@pytest.fixture
def snapshots(log: Path) -> Iterator[Snapshots]:
    opened = Snapshots([log], print)
    yield opened
    opened.close()


def append(log: Path, sample_id: str) -> None:
    with log.open("ab") as file:
        file.write(encode(response_event(sample_id)))


def answers(snapshot: Snapshot) -> int:
    """Return how many answers a state has."""
    with snapshot.asked() as connection:
        ((found,),) = connection.execute("select count(*) from responses").fetchall()
    return int(found)


@pytest.mark.slow
def test_a_state_stays_until_a_new_one_is_asked_for(log: Path, snapshots: Snapshots) -> None:
    """What came meanwhile is told in words; who still reads the old state goes on, and it is closed after that."""
    with snapshots.newest() as old:
        append(log, "q2")
        assert snapshots.look(str(old.number)) == "1 new answer"
        assert answers(old) == 1
        snapshots.renew()
        with snapshots.newest() as new:
            assert (new.number, answers(new), answers(old)) == (2, 2, 1)
            assert snapshots.look(str(old.number)) == "newer answers"
            assert snapshots.look(str(new.number)) is None


@pytest.mark.slow
@pytest.mark.parametrize("may_link", [True, False])
def test_states_whose_index_was_made_anew_are_kept_apart(
    log: Path, monkeypatch: pytest.MonkeyPatch, *, may_link: bool
) -> None:
    """Each index takes the name of the one before, and whoever reads an older one goes on; be it on another disk."""
    monkeypatch.setattr(snapshot_file, "collected", partial(collected, smallest=1))
    if not may_link:
        monkeypatch.setattr(os, "link", refused)
    opened = Snapshots([log], print)
    with ExitStack() as reading:
        states = [reading.enter_context(opened.newest())]
        for number in range(2, 5):
            append(log, f"q{number}")
            opened.renew()
            states.append(reading.enter_context(opened.newest()))
        assert [answers(state) for state in states] == [1, 2, 3, 4]
        assert all(state.files[0].stored for state in states)
    opened.close()


def refused(*_: object, **__: object) -> None:
    raise OSError(errno.EXDEV, "Invalid cross-device link")


def test_nothing_is_read_again_without_need(snapshots: Snapshots) -> None:
    """A log that is as it was has the state that it had."""
    snapshots.renew()
    with snapshots.newest() as snapshot:
        assert snapshot.number == 1


def test_a_log_that_cannot_be_read_again_leaves_the_state(log: Path, snapshots: Snapshots) -> None:
    """The error is the reader's; the pages are still those of before."""
    log.unlink()
    for _ in range(2):
        with pytest.raises(InputError):
            snapshots.renew()
    with snapshots.newest() as snapshot:
        assert snapshot.number == 1


@pytest.mark.slow
def test_what_is_computed_once_is_computed_of_a_state_that_is_kept(log: Path, snapshots: Snapshots) -> None:
    """However long it takes, and though nobody waits for it any more."""
    may_end = threading.Event()

    def slow(snapshot: Snapshot) -> int:
        may_end.wait(30)
        return answers(snapshot)

    with snapshots.newest() as old:
        future = snapshots.once(old, slow)
        assert snapshots.once(old, slow) is future
    append(log, "q2")
    snapshots.renew()
    may_end.set()
    assert future.result(30) == 1


def test_the_end_breaks_off_what_runs(log: Path) -> None:
    """Nobody waits for a query whose page nobody gets."""
    opened, begun, ended = Snapshots([log], print), threading.Event(), threading.Event()

    def ask() -> None:
        with opened.newest() as snapshot, snapshot.asked() as connection:
            begun.set()
            with pytest.raises(Exception, match="INTERRUPT"):
                connection.execute("select count(*) from range(10000000) a, range(10000000) b").fetchall()
            ended.set()

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(30)
    while not ended.is_set():
        opened.close()
    thread.join(30)


def test_no_log_is_refused(tmp_path: Path) -> None:
    """Nor an empty one: nothing could be shown of it."""
    for name in ("none.jsonl", "empty.jsonl"):
        (tmp_path / "empty.jsonl").touch()
        with pytest.raises(InputError, match=name):
            Snapshots([tmp_path / name], print)


@pytest.mark.slow
def test_a_fault_of_a_log_is_told_once(log: Path) -> None:
    """Reading it again says nothing new."""
    with log.open("ab") as file:
        file.write(b"{}\n")
    said: list[str] = []
    opened = Snapshots([log], said.append, skip_invalid=True)
    append(log, "q2")
    opened.renew()
    opened.close()
    assert len(said) == 1
