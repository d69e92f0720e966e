"""Properties of logs that are copied to where data live, here to folders of this machine."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from keval.errors import EnvironmentLacksError, InputError, UsageError
from keval.events import encode
from keval.logs import locks, s3
from keval.logs.push import push
from tests.builders import response_event, run_event, write_log


def names(folder: Path) -> list[str]:
    """Return the names of all that is in a folder."""
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a closed log beside the folder `store`."""
    (tmp_path / "store").mkdir()
    return write_log(tmp_path / "run.jsonl", [run_event(), response_event()])


def test_a_copy_has_its_checksum_beside_it(log: Path, tmp_path: Path) -> None:
    """`sha256sum -c` agrees, and there are these two files and no other."""
    pushed = push(log, str(tmp_path / "store"))
    copy = tmp_path / "store" / "run.jsonl"
    assert copy.read_bytes() == log.read_bytes()
    assert (pushed.place, pushed.is_new) == (str(copy), True)
    assert pushed.sha256 == hashlib.sha256(log.read_bytes()).hexdigest()
    assert names(copy.parent) == ["run.jsonl", "run.jsonl.sha256"]
    done = subprocess.run(["sha256sum", "-c", "run.jsonl.sha256"], cwd=copy.parent, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"run.jsonl: OK\n")


def test_the_same_log_again_is_left_as_it_is(log: Path, tmp_path: Path) -> None:
    """It is told that it was there; a checksum that is missing, as after a crash, is added."""
    target = tmp_path / "store" / "other.jsonl"
    push(log, str(target))
    before = target.stat()
    target.with_name("other.jsonl.sha256").unlink()
    assert push(log, str(target)).is_new is False
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert target.with_name("other.jsonl.sha256").exists()


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.sha256"])
def test_nothing_that_is_there_is_replaced(log: Path, tmp_path: Path, name: str) -> None:
    """Another log of that name, or another checksum, is an error, and not a byte is written."""
    (tmp_path / "store" / name).write_text("mine\n")
    with pytest.raises(UsageError, match=f"{name} is there already, and is not of this log"):
        push(log, str(tmp_path / "store"))
    assert [(path.name, path.read_text()) for path in (tmp_path / "store").iterdir()] == [(name, "mine\n")]


def test_who_is_slower_replaces_nothing(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that somebody takes at the last moment is as taken as any other."""
    link, target = os.link, tmp_path / "store" / "run.jsonl"

    def late(made: Path, name: Path, *, follow_symlinks: bool) -> None:
        target.write_text("theirs\n")
        link(made, name, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(UsageError, match="is there already, and is not of this log"):
        push(log, str(target))
    assert target.read_text() == "theirs\n"
    assert names(target.parent) == ["run.jsonl"]


def test_a_file_system_without_links_gets_a_whole_copy(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many that are mounted are; a file that is there is not replaced on these either."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    assert push(log, f"{tmp_path}/store/").is_new
    assert (tmp_path / "store" / "run.jsonl").read_bytes() == log.read_bytes()
    with log.open("ab") as more:
        more.write(encode(response_event("q2")))
    with pytest.raises(UsageError, match="nothing was written"):
        push(log, f"{tmp_path}/store/")


SPOILT: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut off": (lambda raw: raw[:-9], "the last line is cut off"),
    "without its last newline": (lambda raw: raw[:-1], "the last line is cut off"),
    "with a line that is no event": (lambda raw: raw + b'{"a":1}\n', ":3: "),
    "empty": (lambda _: b"", "no events in it"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_only_a_whole_log_is_copied(log: Path, tmp_path: Path, how: str) -> None:
    """What is wrong is said, and nothing is written."""
    spoil, told = SPOILT[how]
    log.write_bytes(spoil(log.read_bytes()))
    with pytest.raises(InputError, match=told):
        push(log, str(tmp_path / "store"))
    assert names(tmp_path / "store") == []


@pytest.mark.parametrize("stage", ["generate", "judge", "aggregate"])
def test_a_log_that_somebody_writes_to_is_refused(log: Path, tmp_path: Path, stage: str) -> None:
    """The process that does it is named; when it has ended, the log is closed."""
    with log.open("rb+") as writer, locks.held(writer.fileno(), log, stage):
        with pytest.raises(UsageError, match=rf"already writing to this log \(pid {os.getpid()}\)"):
            push(log, str(tmp_path / "store"))
        assert names(tmp_path / "store") == []
    assert push(log, str(tmp_path / "store")).is_new


def test_a_log_that_may_only_be_read_is_copied(log: Path, tmp_path: Path) -> None:
    """To see that nobody writes to it takes no right to write."""
    log.chmod(0o444)
    assert push(log, str(tmp_path / "store")).is_new


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """To open a pipe would wait for a writer, who may never come."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InputError, match=r"pipe\.jsonl is no regular file; name a log that is one"):
        push(tmp_path / "pipe.jsonl", str(tmp_path / "store"))


def test_a_pipe_in_the_place_of_the_checksum_is_not_waited_for(log: Path, tmp_path: Path) -> None:
    """As one in the place of the log."""
    os.mkfifo(tmp_path / "store" / "run.jsonl.sha256")
    with pytest.raises(UsageError, match=r"run\.jsonl\.sha256 is no file"):
        push(log, str(tmp_path / "store"))
    assert names(tmp_path / "store") == ["run.jsonl.sha256"]


def test_any_name_of_a_log_can_be_checked(log: Path, tmp_path: Path) -> None:
    """A line end in it is escaped as `sha256sum` does, and bytes that are no UTF-8 stay what they are."""
    store = tmp_path / "store"
    for name in (b"a\nb\\c.jsonl", b"b\xff.jsonl"):
        log = log.rename(log.with_name(os.fsdecode(name)))
        push(log, str(store))
        done = subprocess.run(["sha256sum", "-c", f"{log.name}.sha256"], cwd=store, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("destination", ["none/", "none/run.jsonl", "run.jsonl/x"])
def test_a_folder_that_is_not_there_is_not_made(log: Path, monkeypatch: pytest.MonkeyPatch, destination: str) -> None:
    """It may be one that is not mounted now."""
    monkeypatch.chdir(log.parent)
    with pytest.raises(EnvironmentLacksError, match=r"^(none|run\.jsonl) is not an existing folder; mount it, make it"):
        push(log, destination)


def test_only_places_that_can_refuse_are_written_to(log: Path) -> None:
    """An address of another kind is refused with what it could be."""
    with pytest.raises(UsageError, match="keval writes to no https://, only to folders and s3://"):
        push(log, "https://ada:secret@host/run.jsonl")
    with pytest.raises(UsageError, match=r"s3:///run\.jsonl names no bucket; write s3://BUCKET/KEY"):
        push(log, "s3:///run.jsonl")


class Store:
    """What stands for an object store."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def open(self, address: str, _: str) -> io.BytesIO:
        if address not in self.objects:
            raise FileNotFoundError(address)
        return io.BytesIO(self.objects[address])

    def put_file(self, source: str, address: str, **_: object) -> None:
        self.objects[address] = Path(source).read_bytes()


@pytest.mark.parametrize("destination", ["s3://bucket", "S3://bucket", "S3://bucket/", "s3://bucket/run.jsonl"])
def test_a_bucket_gets_the_log_under_its_name(log: Path, destination: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bucket alone is a folder, however its scheme is written."""
    store = Store()
    monkeypatch.setattr(s3, "filesystem", lambda: store)
    push(log, destination)
    assert set(store.objects) == {"s3://bucket/run.jsonl", "s3://bucket/run.jsonl.sha256"}
