"""Which files of a folder are logs, and which one is the newest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.logs import folder
from keval.logs.folder import logs_of, newest_log
from tests.builders import response_event, write_log


def test_logs_are_what_begins_with_an_event(tmp_path: Path) -> None:
    """Datasets, empty files, folders, pipes and other endings are none; the newest is first."""
    for name, time in (("old.jsonl", 1), ("new.jsonl", 2)):
        os.utime(write_log(tmp_path / name, [response_event()]), (time, time))
    write_log(tmp_path / "run.jsonl.index", [response_event()])
    (tmp_path / "questions.jsonl").write_text('{"question": "Why?", "answer": "Because."}\n')
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert [path.name for path in logs_of(tmp_path)] == ["new.jsonl", "old.jsonl"]
    assert newest_log(tmp_path).name == "new.jsonl"


def test_a_folder_without_a_log_is_an_error_where_one_is_needed(tmp_path: Path) -> None:
    """It says what to do; a folder that is not there says that."""
    assert logs_of(tmp_path) == []
    with pytest.raises(InputError, match="name one, or pipe one in"):
        newest_log(tmp_path)
    with pytest.raises(InputError, match="nowhere: No such file"):
        logs_of(tmp_path / "nowhere")


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    """With the command that tells of one log."""
    log = tmp_path / "run.jsonl"
    log.touch()
    with pytest.raises(
        InputError, match="is a file, where a folder of logs is asked for; keval summarize tells of one"
    ):
        logs_of(log)


def test_a_file_that_nobody_lets_us_read_may_be_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed, and never taken for the newest one."""
    log = write_log(tmp_path / "run.jsonl", [response_event()])
    locked = tmp_path / "locked.jsonl"
    locked.write_text("?")
    monkeypatch.setattr(os, "access", lambda path, _: path != locked)
    assert set(logs_of(tmp_path)) == {log, locked}
    assert newest_log(tmp_path) == log


def test_a_log_that_is_removed_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are listed all the same."""
    log, gone = (write_log(tmp_path / name, [response_event()]) for name in ("run.jsonl", "gone.jsonl"))

    def is_log(path: Path) -> bool:
        gone.unlink(missing_ok=True)
        return path in {log, gone}

    monkeypatch.setattr(folder, "is_log", is_log)
    assert logs_of(tmp_path) == [log]
