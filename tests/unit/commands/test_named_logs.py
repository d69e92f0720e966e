"""Properties of the names of logs on a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.commands.named_logs import paths_of
from keval.errors import InputError, UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with logs at three depths."""
    monkeypatch.chdir(tmp_path)
    for name in ("b.jsonl", "a.jsonl", "a.txt", "runs/1.jsonl", "runs/new/2.jsonl", "[x].jsonl", "x.jsonl"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("")
    Path("folder.jsonl").mkdir()
    return tmp_path


def test_a_pattern_means_the_files_that_match_sorted_by_name() -> None:
    """Folders are no logs; `**` looks into folders at any depth."""
    assert paths_of(["?.jsonl"]) == [Path("a.jsonl"), Path("b.jsonl"), Path("x.jsonl")]
    assert paths_of(["runs/**/*.jsonl"]) == [Path("runs/1.jsonl"), Path("runs/new/2.jsonl")]


def test_names_and_patterns_keep_their_order(folder: Path) -> None:
    """The order of the command line decides which event is the last of its id; stdin and missing files are names."""
    names = ["-", "b.jsonl", f"{folder}/a.*l", "missing.jsonl"]
    assert paths_of(names) == [Path("-"), Path("b.jsonl"), folder / "a.jsonl", Path("missing.jsonl")]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file() -> None:
    """The name of a file that is there means no other file."""
    assert paths_of(["[x].jsonl"]) == [Path("[x].jsonl")]


def test_a_pattern_that_nothing_matches_is_an_error() -> None:
    """It is said, and no report is made of nothing."""
    with pytest.raises(InputError, match=r"none/\*\.jsonl: no file matches this pattern"):
        paths_of(["none/*.jsonl"])


def test_an_empty_name_is_an_error() -> None:
    """A variable that a shell does not know is no folder."""
    with pytest.raises(UsageError, match="the name of a log is empty"):
        paths_of(["a.jsonl", ""])
