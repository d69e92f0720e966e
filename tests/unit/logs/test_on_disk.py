"""What is told of as done outlives the machine: not the bytes alone are on disk, their names are, too."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from keval.errors import EnvironmentLacksError
from keval.events import encode
from keval.logs.on_disk import IMPOSSIBLE, sync_folder
from keval.logs.writer import open_log
from tests.builders import run_event, small_event

if not Path("/proc/self/fd").exists():
    pytest.skip("what was put on disk is known by /proc", allow_module_level=True)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what was put on disk so far, folders and files, in its order."""
    seen: list[str] = []

    def noted(descriptor: int) -> None:
        seen.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))

    monkeypatch.setattr(os, "fsync", noted)
    return seen


async def test_the_name_of_a_new_log_is_on_disk(tmp_path: Path, synced: list[str]) -> None:
    """When the first event counts as written, so does the log's place in its folder, be it behind a link."""
    (tmp_path / "far").mkdir()
    (tmp_path / "run.jsonl").symlink_to("far/run.jsonl")
    with open_log(tmp_path / "run.jsonl", (), pytest.fail) as log:
        await log.append(small_event(0))
        assert synced == [str(tmp_path / "far")]
    with open_log(tmp_path / "run.jsonl", (), pytest.fail) as log:
        await log.append(small_event(1))
    assert synced == [str(tmp_path / "far")]


def test_a_line_that_is_set_aside_is_found_before_the_log_loses_it(tmp_path: Path, synced: list[str]) -> None:
    """Both the bytes of `.torn` and its name are on disk."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(encode(run_event()) + encode(small_event(0))[:50])
    told: list[str] = []
    with open_log(log, (), told.append):
        assert synced == [str(tmp_path / "run.jsonl.torn"), str(tmp_path)]


async def test_what_was_rescued_is_found(tmp_path: Path, synced: list[str]) -> None:
    """The folder is put on disk once more when `.rescued` is made in it."""
    path = tmp_path / "run.jsonl"

    async def lose() -> None:
        with open_log(path, (), print) as log:
            await log.append(small_event(0))
            path.unlink()
            await log.append(small_event(1))

    with pytest.raises(EnvironmentLacksError, match=r"run\.jsonl\.rescued"):
        await lose()
    assert (tmp_path / "run.jsonl.rescued").read_bytes().count(b"\n") == 2
    assert synced.count(str(tmp_path)) == 2


@pytest.mark.parametrize("number", sorted(IMPOSSIBLE))
def test_a_folder_that_cannot_be_put_on_disk_stops_nothing(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system, or a folder's rights, may refuse that; a disk that is broken is told."""

    def refused(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refused)
    sync_folder(tmp_path)
    number = errno.EIO
    with pytest.raises(OSError, match="Input/output"):
        sync_folder(tmp_path)
