from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest

from keval.errors import EnvironmentLacksError, InputError, InterruptError, KevalError, UsageError
from keval.events import encode
from keval.ids import JsonObject
from keval.logs import appended_file, locks
from keval.logs.appended_file import TAIL
from keval.logs.writer import open_log
from tests.builders import run_event, small_event


async def append(path: Path, events: list[JsonObject], said: Callable[[str], None] = lambda _: None) -> None:
    with open_log(path, (), said) as log:
        for each in events:
            await log.append(each)


def ids(path: Path) -> list[str]:
    return [orjson.loads(line)["id"] for line in path.read_bytes().splitlines()]


def names(folder: Path) -> list[str]:
    return sorted(found.name for found in folder.iterdir())


async def test_appending_leaves_earlier_bytes_as_they_are(tmp_path: Path) -> None:
    """The log before an append is a prefix of the log after it."""
    path = tmp_path / "run.jsonl"
    await append(path, [small_event(1)])
    before = path.read_bytes()
    await append(path, [small_event(2)])
    assert path.read_bytes().startswith(before)
    assert path.read_bytes().count(b"\n") == 2


async def test_a_log_stays_where_it_is_when_the_folder_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of the user's may change the folder in which keval runs: a relative path leads elsewhere then."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with open_log(Path("log.jsonl"), (), print) as log:
        for number, folder in enumerate((tmp_path, tmp_path / "elsewhere")):
            os.chdir(folder)
            await log.append(small_event(number))
    assert ids(tmp_path / "log.jsonl") == ["r0", "r1"]
    assert names(tmp_path) == ["elsewhere", "log.jsonl"]


@pytest.mark.parametrize("torn", [b'{"type":"retrac', b'{"type":"retrac' + b"x" * 3 * TAIL])
async def test_a_torn_last_line_is_set_aside_and_said(torn: bytes, tmp_path: Path) -> None:
    """What a crash cut off moves to `<log>.torn`, however long it is, and the whole lines stay."""
    path = tmp_path / "run.jsonl"
    await append(path, [small_event(1)])
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    said: list[str] = []
    await append(path, [small_event(2)], said.append)
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes().count(b"\n") == 2
    assert (tmp_path / "run.jsonl.torn").read_bytes() == torn + b"\n"
    assert "cut off" in said[0]


async def test_a_whole_event_without_its_newline_is_kept(tmp_path: Path) -> None:
    """A last line that lacks only its newline gets it: nothing that was paid for is set aside."""
    path = tmp_path / "run.jsonl"
    await append(path, [small_event(1)])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    await append(path, [small_event(2)])
    assert [line.count(b"retraction") for line in path.read_bytes().splitlines()] == [1, 1]
    assert not (tmp_path / "run.jsonl.torn").exists()


async def test_a_line_torn_by_another_writer_is_mended_before_the_next_append(tmp_path: Path) -> None:
    """A log that is open notices that another writer died in mid-write, and does not write into its line."""
    path = tmp_path / "run.jsonl"
    with open_log(path, (), lambda _: None) as log:
        await log.append(small_event(1))
        with path.open("ab") as other:
            other.write(b'{"type":')
        await log.append(small_event(2))
    assert [b'"type":"retraction"' in line for line in path.read_bytes().splitlines()] == [True, True]


async def test_many_appends_at_once_are_all_written_whole(tmp_path: Path) -> None:
    """Concurrent appends share fsyncs and each line is whole."""
    path = tmp_path / "run.jsonl"
    with open_log(path, (), lambda _: None) as log:
        await asyncio.gather(*(log.append(small_event(number)) for number in range(200)))
    assert path.read_bytes().count(b"\n") == 200


async def test_who_writes_may_go_on_when_the_line_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is safe later, when it is on disk; who no longer waits for that takes nothing from the others."""
    path, may_sync = tmp_path / "run.jsonl", threading.Event()
    monkeypatch.setattr(appended_file, "_sync", lambda _: may_sync.wait(10))
    with open_log(path, (), lambda _: None) as log:
        on_disk = await asyncio.gather(*(log.write(encode(small_event(number))) for number in (1, 2)))
        assert ids(path) == ["r1", "r2"]
        waiting = [asyncio.ensure_future(each) for each in on_disk]
        await asyncio.sleep(0.05)
        assert not any(each.done() for each in waiting)
        waiting[0].cancel()
        may_sync.set()
        await waiting[1]
        assert waiting[0].cancelled()


class NoThreads(ThreadPoolExecutor):
    """What is left where a process may start no thread."""

    def submit(self, *_: object, **__: object) -> Future[Any]:
        """Refuse, as Python does."""
        raise RuntimeError("can't start new thread")


async def test_where_no_thread_can_be_started_lines_are_put_on_disk_all_the_same(tmp_path: Path) -> None:
    """Whoever waits for it would wait for ever otherwise."""
    path = tmp_path / "run.jsonl"
    asyncio.get_running_loop().set_default_executor(NoThreads())
    with open_log(path, (), lambda _: None) as log:
        await asyncio.wait_for(asyncio.gather(*(log.append(small_event(number)) for number in range(3))), 30)
    assert path.read_bytes().count(b"\n") == 3


async def test_an_event_that_breaks_its_schema_is_never_written(tmp_path: Path) -> None:
    """An invalid event is a bug that is told before a byte is written."""
    path = tmp_path / "run.jsonl"
    with open_log(path, (), lambda _: None) as log, pytest.raises(KevalError, match="retraction"):
        await log.append({**small_event(1), "score": 5})
    assert path.read_bytes() == b""


async def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    """Text that UTF-8 cannot hold is written with U+FFFD in place of what it cannot hold."""
    path = tmp_path / "run.jsonl"
    await append(path, [small_event(1, reason="a\ud800b")])
    assert "a\ufffdb" in path.read_text(encoding="utf-8")


def test_the_second_writer_of_a_stage_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    """Two `generate` on one log: the second is told who holds it; `judge` may write at the same time."""
    path = tmp_path / "run.jsonl"
    with open_log(path, ("generate",), lambda _: None):
        with pytest.raises(UsageError, match=f"pid {os.getpid()}"), open_log(path, ("generate",), lambda _: None):
            pass
        with open_log(path, ("judge",), lambda _: None):
            pass
    with open_log(path, ("generate",), lambda _: None):
        pass
    assert sorted(found.name for found in tmp_path.iterdir()) == ["run.jsonl"]


def test_a_lease_dies_with_its_process(tmp_path: Path) -> None:
    """After kill -9 the stage is free again."""
    path = tmp_path / "run.jsonl"
    script = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from keval.logs.writer import open_log
        with open_log(Path({str(path)!r}), ("generate",), print):
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    subprocess.run([sys.executable, "-c", script], check=False)
    with open_log(path, ("generate",), lambda _: None):
        pass


def test_a_full_disk_stops_the_run_and_leaves_whole_lines(tmp_path: Path) -> None:
    """A write that does not fit is taken back, and the message names the log."""
    path = tmp_path / "run.jsonl"
    script = textwrap.dedent(f"""
        import asyncio, resource, signal
        from pathlib import Path
        from keval.errors import EnvironmentLacksError
        from keval.events import event
        from keval.logs.writer import open_log
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        async def main():
            with open_log(Path({str(path)!r}), (), print) as log:
                for number in range(100):
                    await log.append(event("retraction", str(number), "r", target="t", reason="x" * 300, author=None))
        try:
            asyncio.run(main())
        except EnvironmentLacksError as error:
            print("told", error)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"told {path}: " in done.stdout
    assert path.read_bytes().endswith(b"\n")
    assert 0 < path.stat().st_size <= 1000
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000


def test_a_log_in_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    """The message names the path and the reason."""
    with (
        pytest.raises(EnvironmentLacksError, match="No such file"),
        open_log(tmp_path / "no" / "run.jsonl", ("generate",), lambda _: None),
    ):
        pass


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A device or a folder cannot be resumed from."""
    for path in (Path("/dev/null"), tmp_path):
        with pytest.raises(UsageError, match="not a file"), open_log(path, ("generate",), lambda _: None):
            pass


@pytest.mark.parametrize(
    "content",
    [b'{"id":"q1","question":"Why?"}\n{"id":"q2"', b'{"type":"FeatureCollection"}', b"name: eval\n", b"\xff\x00"],
)
def test_a_file_that_is_no_log_is_left_as_it_is(content: bytes, tmp_path: Path) -> None:
    """No byte of it changes, nothing is put beside it, and the message says what it looks like."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a keval log: it holds"), open_log(path, (), lambda _: None):
        pass
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"%s\r%s", b'{"type":"note","v":1,"id":"n1","time":"","run_id":"r"}'])
def test_a_last_line_that_is_whole_and_no_event_is_left_as_it_is(content: bytes, tmp_path: Path) -> None:
    """Only what a crash cut off is set aside: a file without line ends, or of another kind, keeps every byte."""
    line = encode(small_event(1)).rstrip()
    path = tmp_path / "run.jsonl"
    path.write_bytes(content.replace(b"%s", line))
    before = path.read_bytes()
    with pytest.raises(InputError, match="its last line has no end"), open_log(path, (), lambda _: None):
        pass
    assert path.read_bytes() == before
    assert names(tmp_path) == ["run.jsonl"]


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_torn_line_goes_into_no_file_of_somebody_else(link: Callable[[Path, Path], None], tmp_path: Path) -> None:
    """Where `.torn` leads to another file, that file and the log stay as they are."""
    (tmp_path / "other").write_text("mine\n")
    link(tmp_path / "run.jsonl.torn", tmp_path / "other")
    path = tmp_path / "run.jsonl"
    path.write_bytes(encode(small_event(1)) + b'{"type":"ret')
    before = path.read_bytes()
    with pytest.raises(EnvironmentLacksError, match=r"run\.jsonl\.torn"), open_log(path, (), lambda _: None):
        pass
    assert (path.read_bytes(), (tmp_path / "other").read_text()) == (before, "mine\n")


def test_what_an_earlier_command_rescued_is_not_forgotten(tmp_path: Path) -> None:
    """Whoever opens a log is told of a file beside it whose events may be missing."""
    said: list[str] = []
    (tmp_path / "run.jsonl.rescued").write_bytes(encode(small_event(1)))
    with open_log(tmp_path / "run.jsonl", (), said.append):
        pass
    assert "run.jsonl.rescued holds what an earlier command could not put into this log" in said[0]


@pytest.mark.parametrize("kept", [12, 40, -2])
async def test_a_first_line_that_was_cut_off_is_mended(kept: int, tmp_path: Path) -> None:
    """A log whose only line was cut off in the middle of a write is a log, too."""
    path = tmp_path / "run.jsonl"
    cut_off = encode(run_event())[:kept]
    path.write_bytes(cut_off)
    await append(path, [small_event(1)])
    assert path.with_name("run.jsonl.torn").read_bytes() == cut_off + b"\n"
    assert path.read_bytes().count(b"\n") == 1


async def test_the_only_line_is_completed_if_it_lacks_only_its_newline(tmp_path: Path) -> None:
    """A log of one whole event without its newline keeps the event."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(encode(run_event()).rstrip(b"\n"))
    await append(path, [small_event(1)])
    assert path.read_bytes().startswith(encode(run_event()))
    assert names(tmp_path) == [path.name]


def test_an_input_is_no_log(tmp_path: Path) -> None:
    """A file that the command reads is refused under any name, even while it is empty."""
    dataset = tmp_path / "questions.jsonl"
    dataset.touch()
    (tmp_path / "hard.jsonl").hardlink_to(dataset)
    with (
        pytest.raises(UsageError, match="an input of this command"),
        open_log(tmp_path / "hard.jsonl", (), lambda _: None, [dataset]),
    ):
        pass
    assert dataset.read_bytes() == b""


def take(path: Path, gate: Path) -> subprocess.Popen[str]:
    """Start a process that opens a log for `generate` once a file is there, and holds it until its stdin ends."""
    script = textwrap.dedent(f"""
        import sys, time
        from pathlib import Path
        from keval.errors import UsageError
        from keval.logs.writer import open_log
        print("ready", flush=True)
        while not Path({str(gate)!r}).exists():
            pass
        try:
            with open_log(Path({str(path)!r}), ("generate",), print):
                print("held", flush=True)
                sys.stdin.read()
        except UsageError as error:
            print("refused", error, flush=True)
    """)
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def told(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.slow
def test_of_several_that_create_a_log_at_once_one_holds_it(tmp_path: Path) -> None:
    """Who comes second while the first creates the file is refused like anybody who comes later."""
    path, gate = tmp_path / "run.jsonl", tmp_path / "gate"
    processes = [take(path, gate) for _ in range(4)]
    assert [told(process) for process in processes] == ["ready\n"] * 4
    gate.touch()
    outcomes = [told(process) for process in processes]
    (first,) = [process for process, outcome in zip(processes, outcomes, strict=True) if outcome == "held\n"]
    refused = f"refused {path}: another command is already writing to this log (pid {first.pid})\n"
    assert sorted(outcomes) == ["held\n", refused, refused, refused]
    for process in processes:
        process.communicate("")


def test_no_child_keeps_the_lease_of_a_parent_that_died(tmp_path: Path) -> None:
    """A program that outlives a killed command does not hold the log."""
    path = tmp_path / "run.jsonl"
    script = textwrap.dedent(f"""
        import os, signal, subprocess, sys
        from pathlib import Path
        from keval.logs.writer import open_log
        with open_log(Path({str(path)!r}), ("generate",), print):
            child = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, close_fds=False)
            print(child.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    try:
        with open_log(path, ("generate",), lambda _: None):
            pass
    finally:
        os.kill(int(done.stdout), signal.SIGKILL)


@pytest.mark.parametrize("name", ["link.jsonl", "hard.jsonl", "moved.jsonl"])
@pytest.mark.parametrize("linux", [True, False])
def test_a_stage_is_held_under_every_name_of_the_log(
    name: str, linux: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease belongs to the file, with the locks of Linux and with what stands for them elsewhere."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if not linux:
        monkeypatch.setattr(locks, "_SET", None)
    path = tmp_path / "run.jsonl"
    with open_log(path, ("generate",), lambda _: None):
        other = tmp_path / name
        if name == "link.jsonl":
            other.symlink_to(path)
        elif name == "hard.jsonl":
            other.hardlink_to(path)
        else:
            path.rename(other)
        with pytest.raises(UsageError, match=f"pid {os.getpid()}"), open_log(other, ("generate",), lambda _: None):
            pass
        with open_log(other, ("judge",), lambda _: None):
            pass
    with open_log(other, ("generate",), lambda _: None):
        pass


async def test_a_lost_log_is_rescued_by_each_of_its_writers(tmp_path: Path) -> None:
    """`generate` and `judge` on one log that is removed put all that each of them wrote into a file of its own."""
    path, stop = tmp_path / "run.jsonl", asyncio.Event()
    said: list[str] = []

    async def write() -> None:
        with open_log(path, ("generate",), said.append) as first, open_log(path, ("judge",), said.append) as second:
            first.tell(stop)
            await first.append(small_event(1))
            await second.append(small_event(2))
            assert not stop.is_set()
            path.unlink()
            await first.append(small_event(3))
            assert stop.is_set()

    with pytest.raises(EnvironmentLacksError, match=r"run\.jsonl was removed or moved away while it was written to"):
        await write()
    assert ids(tmp_path / "run.jsonl.rescued") == ["r1", "r3"]
    assert ids(tmp_path / "run.jsonl.rescued-2") == ["r2"]
    assert names(tmp_path) == ["run.jsonl.rescued", "run.jsonl.rescued-2"]
    assert "stopping" in said[0]


async def test_what_is_rescued_can_be_appended_to_a_log_that_was_cut_in_a_line(tmp_path: Path) -> None:
    """As people are told to do: the line that was cut is set aside."""
    path, before = tmp_path / "run.jsonl", encode(small_event(0))
    path.write_bytes(encode(run_event()) + before)

    async def write() -> None:
        with open_log(path, (), lambda _: None) as log:
            size = path.stat().st_size
            await log.append(small_event(1))
            os.truncate(path, size - 9)
            await log.append(small_event(2))

    with pytest.raises(EnvironmentLacksError, match="was cut short"):
        await write()
    with path.open("ab") as log:
        log.write((tmp_path / "run.jsonl.rescued").read_bytes())
    assert ids(path)[1:] == ["r1", "r2"]
    assert (tmp_path / "run.jsonl.torn").read_bytes() == before[:-9] + b"\n"


async def test_a_log_whose_folder_is_gone_is_rescued_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written beside the log, the rescued events are in the working folder."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    path = tmp_path / "logs" / "run.jsonl"
    path.parent.mkdir()

    async def write() -> None:
        with open_log(path, (), lambda _: None) as log:
            await log.append(small_event(1))
            shutil.rmtree(path.parent)

    with pytest.raises(EnvironmentLacksError, match=r"are in run\.jsonl\.rescued"):
        await write()
    assert b'"r1"' in (tmp_path / "work" / "run.jsonl.rescued").read_bytes()


async def test_a_log_that_was_cut_short_and_has_grown_again_is_noticed(tmp_path: Path) -> None:
    """It is not the size that tells whether a log still holds what was written, but the line in its place."""
    path = tmp_path / "run.jsonl"

    async def write() -> None:
        with open_log(path, (), lambda _: None) as log:
            await log.append(small_event(1))
            path.write_bytes(encode(small_event(7, "x" * 1000)))
            await log.append(small_event(2))

    with pytest.raises(EnvironmentLacksError, match="was written over"):
        await write()
    assert path.read_bytes().count(b"\n") == 1
    assert (tmp_path / "run.jsonl.rescued").read_bytes().count(b"\n") == 2


def lose(path: Path, *written: int) -> str:
    """Write events to a log that is then removed, and return what is said of it."""

    async def write() -> None:
        with open_log(path, (), lambda _: None) as log:
            for number in written:
                await log.append(small_event(number))
            os.unlink(path)  # noqa: PTH108 - as another program does it

    with pytest.raises(EnvironmentLacksError) as raised:
        asyncio.run(write())
    return str(raised.value)


def test_what_is_to_be_typed_after_a_loss_works_as_it_stands(tmp_path: Path) -> None:
    """A shell that is given the commands of the messages has the log again, whatever the log is called."""
    path = tmp_path / "it's $HOME" / "my log.jsonl"
    path.parent.mkdir()
    said = lose(path, 1)
    subprocess.run(["sh", "-c", said.partition("`mv")[2].partition("`")[0].join(["mv", ""])], check=True)
    assert ids(path) == ["r1"]
    (path.parent / "my log.jsonl.rescued").write_bytes(encode(small_event(2)))
    told: list[str] = []
    with open_log(path, (), told.append):
        subprocess.run(["sh", "-c", told[0].partition("append it (")[2].rpartition(") and begin")[0]], check=True)
    assert ids(path) == ["r1", "r2"]


def test_each_loss_has_a_file_of_its_own(tmp_path: Path) -> None:
    """A foreign file of the name and what an earlier loss left stay as they are: nothing is appended a second time."""
    path = tmp_path / "run.jsonl"
    (tmp_path / "run.jsonl.rescued").write_text("mine\n")
    assert "the 2 events of this command are in" in lose(path, 1, 2)
    assert f"`cat {path}.rescued-3 >> {path}`" in lose(path, 3)
    assert (tmp_path / "run.jsonl.rescued").read_text() == "mine\n"
    assert ids(tmp_path / "run.jsonl.rescued-2") == ["r1", "r2"]
    assert ids(tmp_path / "run.jsonl.rescued-3") == ["r3"]


def in_a_process_without_room_for_a_copy(path: Path, harm: str) -> str:
    """Append two events, of which the copy has room for one, to a log that `harm` is then done to; one more follows."""
    script = textwrap.dedent(f"""
        import asyncio, os, tempfile
        from pathlib import Path
        from keval.errors import KevalError
        from keval.events import event
        from keval.logs.writer import open_log
        path = Path({str(path)!r})
        def an_event(number):
            return event("retraction", f"r{{number}}", "run", target="t", reason="x" * 300, author=None)
        async def main():
            with open_log(path, (), print) as log:
                await log.append(an_event(1))
                full = os.open("/dev/full", os.O_RDWR)
                os.dup2(full, log._copy.fileno())  # the disk of the copy is full from now on
                os.close(full)
                open_files = len(os.listdir("/dev/fd"))
                await log.append(an_event(2))
                assert len(os.listdir("/dev/fd")) == open_files - 1, "the copy is still open"
                {harm}
                await log.append(an_event(3))
        try:
            asyncio.run(main())
        except KevalError as error:
            print(error)
    """)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_without_a_copy_what_was_removed_is_rescued_all_the_same(tmp_path: Path) -> None:
    """A file that has no name any more still holds what was written to it, and no more is said to be saved than is."""
    path = tmp_path / "run.jsonl"
    said = in_a_process_without_room_for_a_copy(path, "path.unlink()")
    assert "no room for a temporary copy" in said
    assert "the 3 events that were still to be found are in" in said
    assert ids(tmp_path / "run.jsonl.rescued") == ["r1", "r2", "r3"]


@pytest.mark.parametrize("harm", ["os.truncate(path, 0)", "path.write_bytes(b'y' * 350 + b' foreign\\n{\"a\":1')"])
def test_without_a_copy_only_whole_events_are_rescued(harm: str, tmp_path: Path) -> None:
    """What an editor or another program wrote in place of the events is not glued to the next one."""
    path = tmp_path / "run.jsonl"
    said = in_a_process_without_room_for_a_copy(path, harm)
    assert "the 1 event that were still to be found are in" in said
    assert ids(tmp_path / "run.jsonl.rescued") == ["r3"]


async def test_a_torn_line_that_cannot_be_set_aside_is_said(tmp_path: Path) -> None:
    """What the system refuses in the middle of a run names the file and the reason."""
    path = tmp_path / "run.jsonl"
    (tmp_path / "run.jsonl.torn").mkdir()

    async def write() -> None:
        with open_log(path, (), lambda _: None) as log:
            await log.append(small_event(1))
            with path.open("ab") as other:
                other.write(b'{"type":')
            await log.append(small_event(2))

    with pytest.raises(EnvironmentLacksError, match=r"run\.jsonl\.torn: Is a directory"):
        await write()
    assert path.read_bytes().endswith(b'\n{"type":')


async def test_a_log_that_can_no_longer_be_read_is_lost(tmp_path: Path) -> None:
    """A file that the system refuses to read, write, lock and sync, as NFS does when it is stale, is rescued."""
    path = tmp_path / "run.jsonl"

    async def write() -> None:
        with open_log(path, ("generate",), lambda _: None) as log:
            await log.append(small_event(1))
            refusing = os.open(path, os.O_PATH)
            os.dup2(refusing, log.descriptor)
            os.close(refusing)
            await log.append(small_event(2))

    with pytest.raises(EnvironmentLacksError, match=r"can no longer be read \(Bad file descriptor\) while"):
        await write()
    assert ids(tmp_path / "run.jsonl.rescued") == ["r1", "r2"]


@pytest.mark.parametrize("noticed_by_a_write", [True, False])
@pytest.mark.parametrize("ended_by", [InterruptError("interrupted"), ZeroDivisionError("a bug")])
async def test_a_loss_does_not_hide_what_ended_the_command(
    ended_by: Exception, noticed_by_a_write: bool, tmp_path: Path
) -> None:
    """The loss of the log is said, also if only the end of the command notices it, and the first error is raised."""
    path = tmp_path / "run.jsonl"
    said: list[str] = []

    async def write() -> None:
        with open_log(path, (), said.append) as log:
            await log.append(small_event(1))
            path.unlink()
            if noticed_by_a_write:
                await log.append(small_event(2))
            raise ended_by

    with pytest.raises(type(ended_by), match=str(ended_by)):
        await write()
    assert f"{path} was removed or moved away while it was written to; the" in said[-1]
    assert (tmp_path / "run.jsonl.rescued").read_bytes().count(b"\n") == 1 + noticed_by_a_write


def test_a_log_that_nobody_could_read_is_not_begun(tmp_path: Path) -> None:
    """DuckDB reads no such path: what was paid for would lie there unread."""
    with pytest.raises(InputError, match="a backslash and one of"), open_log(tmp_path / "a*\\b.jsonl", (), print):
        pass
    assert not list(tmp_path.iterdir())
