from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.errors import EnvironmentLacksError
from keval.events import encode
from keval.logs.appended_file import AppendedFile
from keval.logs.writer import open_log
from tests.builders import small_event


def ids(path: Path) -> list[str]:
    return [orjson.loads(line)["id"] for line in path.read_bytes().splitlines()]


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_system_calls() -> int:
    """Return how often this process has called the system to write something."""
    told = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in told if line.startswith("syscw:"))


@given(sizes=st.lists(st.integers(0, 3_000), min_size=1, max_size=8), room=st.integers(1, 9_000))
@settings(max_examples=200)
def test_of_lines_that_do_not_all_fit_those_that_do_are_there_whole(sizes: list[int], room: int) -> None:
    """What is in the file is as many of the lines as it has room for, and just those are said to be there."""
    lines = [bytes([97 + number]) * size + b"\n" for number, size in enumerate(sizes)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        opened = AppendedFile(path, pytest.fail)
        written = 0
        try:
            with room_for(room):
                while written < len(lines):
                    written += opened.write(lines[written:])
        except EnvironmentLacksError:
            assert len(b"".join(lines[: written + 1])) > room
        assert path.read_bytes() == b"".join(lines[:written])
        assert opened.loss() is None
        opened.close()


async def test_each_line_is_answered_for_itself_when_not_all_of_them_fit(tmp_path: Path) -> None:
    """Whose line is in the log is told nothing; the others are told what the system says of the rest."""
    path = tmp_path / "run.jsonl"
    size = len(encode(small_event(0)))
    with open_log(path, (), print) as log, room_for(size * 5 // 2):
        told = await asyncio.gather(*(log.append(small_event(n)) for n in range(4)), return_exceptions=True)
    assert [type(each) for each in told] == [type(None), type(None), EnvironmentLacksError, EnvironmentLacksError]
    assert str(told[2]).startswith(f"{path}: File too large; ")
    assert ids(path) == ["r0", "r1"]


async def test_lines_of_one_turn_of_the_event_loop_are_written_at_once(tmp_path: Path) -> None:
    """So many lines cost a few calls to the system, not one or more for each."""
    with open_log(tmp_path / "run.jsonl", (), print) as log:
        before = write_system_calls()
        await asyncio.gather(*(log.append(small_event(number)) for number in range(200)))
        assert write_system_calls() - before < 50


async def test_a_line_whose_writer_is_cancelled_is_written_once(tmp_path: Path) -> None:
    """Whether it was only brought or is about to be put on disk: what was paid for is kept."""
    path = tmp_path / "run.jsonl"
    with open_log(path, (), print) as log:
        for number, turns in enumerate((2, 1)):
            bringing = asyncio.create_task(log.append(small_event(number)))
            for _ in range(turns):
                await asyncio.sleep(0)
            bringing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await bringing
    assert ids(path) == ["r0", "r1"]


def test_lines_of_several_writers_at_once_stay_whole(tmp_path: Path) -> None:
    """Three processes that write many lines at a time put none into the middle of another's."""
    path = tmp_path / "run.jsonl"
    script = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from keval.events import event
        from keval.logs.writer import open_log
        async def main(path, name):
            with open_log(Path(path), (), print) as log:
                for turn in range(20):
                    await asyncio.gather(*(
                        log.append(event("retraction", f"{name}-{turn}-{n}", "r", target="t", reason=long, author=None))
                        for n, long in enumerate(name * 99 * n for n in range(1, 30))
                    ))
        asyncio.run(main(*sys.argv[1:]))
    """)
    writers = [subprocess.Popen([sys.executable, "-c", script, path, name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    expected = {f"{name}-{turn}-{n}" for name in "abc" for turn in range(20) for n in range(29)}
    found = ids(path)
    assert len(found) == len(expected)
    assert set(found) == expected
