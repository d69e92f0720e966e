"""Which folders files are written into."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.cli import run
from keval.commands.export import filled
from keval.errors import EnvironmentLacksError
from tests.builders import response_event, run_event, write_log


def test_an_empty_folder_that_is_there_gets_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays the folder that it was: of the one that one stands in, or a mount point, nothing takes the place."""
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"]), response_event()])
    folder = tmp_path / "out"
    folder.mkdir(mode=0o750)
    (folder / "files.kvtask-left").mkdir()  # by an export that was killed
    before = folder.stat().st_ino, folder.stat().st_mode
    monkeypatch.chdir(folder)
    assert run(["export", str(log), "-f", "evaluation_json", "-o", "."]) == 0
    assert [path.name for path in folder.iterdir()] == ["baseline"]
    assert before == (folder.stat().st_ino, folder.stat().st_mode)


def test_a_folder_gets_all_files_or_none(tmp_path: Path) -> None:
    """What was moved into it is taken out again when another file cannot be; what else is there is not touched."""

    def fill() -> None:
        with filled(tmp_path) as made:
            for name in "abc":
                (made / name).touch()
            (tmp_path / "b").write_text("of somebody else")

    with pytest.raises(EnvironmentLacksError, match="File exists"):
        fill()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("b", "of somebody else")]
