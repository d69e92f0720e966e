from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from keval.errors import EnvironmentLacksError, KevalError, UsageError
from keval.events import event
from keval.ids import JsonObject
from keval.log import open_log


def a_retraction(number: int, reason: str = "wrong") -> JsonObject:
    return event("retraction", f"r{number}", "run", target=f"t{number}", reason=reason, author=None)


async def append(path: Path, events: list[JsonObject], said: Callable[[str], None] = lambda _: None) -> None:
    with open_log(path, (), said) as log:
        for each in events:
            await log.append(each)


async def test_appending_leaves_earlier_bytes_as_they_are(tmp_path: Path) -> None:
    """The log before an append is a prefix of the log after it."""
    path = tmp_path / "run.jsonl"
    await append(path, [a_retraction(1)])
    before = path.read_bytes()
    await append(path, [a_retraction(2)])
    assert path.read_bytes().startswith(before)
    assert path.read_bytes().count(b"\n") == 2


async def test_a_torn_last_line_is_set_aside_and_said(tmp_path: Path) -> None:
    """What a crash cut off moves to `<log>.torn`, and the whole lines stay."""
    path = tmp_path / "run.jsonl"
    await append(path, [a_retraction(1)])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type":"retrac')
    said: list[str] = []
    await append(path, [a_retraction(2)], said.append)
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes().count(b"\n") == 2
    assert (tmp_path / "run.jsonl.torn").read_bytes() == b'{"type":"retrac\n'
    assert "cut off" in said[0]


async def test_a_whole_event_without_its_newline_is_kept(tmp_path: Path) -> None:
    """A last line that lacks only its newline gets it: nothing that was paid for is set aside."""
    path = tmp_path / "run.jsonl"
    await append(path, [a_retraction(1)])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    await append(path, [a_retraction(2)])
    assert [line.count(b"retraction") for line in path.read_bytes().splitlines()] == [1, 1]
    assert not (tmp_path / "run.jsonl.torn").exists()


async def test_a_line_torn_by_another_writer_is_mended_before_the_next_append(tmp_path: Path) -> None:
    """A log that is open notices that another writer died in mid-write, and does not write into its line."""
    path = tmp_path / "run.jsonl"
    with open_log(path, (), lambda _: None) as log:
        await log.append(a_retraction(1))
        with path.open("ab") as other:
            other.write(b'{"type":')
        await log.append(a_retraction(2))
    assert [b'"type":"retraction"' in line for line in path.read_bytes().splitlines()] == [True, True]


async def test_many_appends_at_once_are_all_written_whole(tmp_path: Path) -> None:
    """Concurrent appends share fsyncs and each line is whole."""
    path = tmp_path / "run.jsonl"
    with open_log(path, (), lambda _: None) as log:
        await asyncio.gather(*(log.append(a_retraction(number)) for number in range(200)))
    assert path.read_bytes().count(b"\n") == 200


async def test_an_event_that_breaks_its_schema_is_never_written(tmp_path: Path) -> None:
    """An invalid event is a bug that is told before a byte is written."""
    path = tmp_path / "run.jsonl"
    with open_log(path, (), lambda _: None) as log, pytest.raises(KevalError, match="retraction"):
        await log.append({**a_retraction(1), "score": 5})
    assert path.read_bytes() == b""


async def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    """Text that UTF-8 cannot hold is written with U+FFFD in place of what it cannot hold."""
    path = tmp_path / "run.jsonl"
    await append(path, [a_retraction(1, reason="a\ud800b")])
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
    """After kill -9 the stage is free again, although its lock file is still there."""
    path = tmp_path / "run.jsonl"
    script = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from keval.log import open_log
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
        from keval.log import open_log
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
