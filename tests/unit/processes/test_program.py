from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from keval.processes.program import Ended, Limits, ProgramError, has_ended, run
from tests.remains import marked

AMPLE = Limits(output_bytes=10_000, seconds=60)
ENV = {"PATH": "/usr/bin:/bin"}
SLEEPS = "import time; print('so far', flush=True); time.sleep(600)"
LEAVES_ONE_BEHIND = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
"""


async def python(folder: Path, source: str, limits: Limits = AMPLE, stdin: bytes = b"") -> Ended:
    """Run a Python program."""
    return await run([sys.executable, "-c", source], folder=folder, env=ENV, limits=limits, stdin=stdin)


async def test_what_a_program_says_and_how_it_ends_comes_back(tmp_path: Path) -> None:
    """Stdin goes in as it is; stdout, stderr and the exit status come back."""
    source = "import sys; print(sys.stdin.read()[::-1]); print('oh', file=sys.stderr); sys.exit(3)"
    assert await python(tmp_path, source, stdin=b"abc") == Ended(3, b"cba\n", b"oh\n")


async def test_a_program_has_no_environment_but_the_one_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key of this process is not in it."""
    monkeypatch.setenv("STRAY_KEY", "stray-secret")
    ended = await python(tmp_path, "import os; print(*os.environ)")
    assert set(ended.stdout.decode().split()) - {"LC_CTYPE"} == {"PATH", "KEVAL_TASK"}


async def test_a_program_that_takes_too_long_is_ended_and_what_it_said_is_kept(tmp_path: Path) -> None:
    """Its time is a limit of its own, and being over it no error: what that means is for the caller to say."""
    began = time.monotonic()
    ended = await python(tmp_path, SLEEPS, Limits(output_bytes=10_000, seconds=1))
    assert (ended.exceeded, ended.stdout) == ("seconds", b"so far\n")
    assert ended.exit_status < 0
    assert time.monotonic() - began < 30


def test_who_looks_whether_a_program_has_ended_leaves_its_exit_status() -> None:
    """Asyncio would tell the user that it got none."""
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.exit(sys.stdin.read())"], stdin=subprocess.PIPE
    ) as it:
        assert not has_ended(it.pid)
        it.kill()
        os.waitid(os.P_PID, it.pid, os.WEXITED | os.WNOWAIT)
        assert has_ended(it.pid)
        assert it.wait() == -signal.SIGKILL
        assert has_ended(it.pid)


async def test_a_program_is_ended_where_the_system_has_no_waitid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python has none on macOS before 3.13."""
    monkeypatch.delattr(os, "waitid")
    ended = await python(tmp_path, SLEEPS, Limits(output_bytes=10_000, seconds=1))
    assert ended.exceeded == "seconds"


async def test_a_program_that_writes_too_much_is_ended(tmp_path: Path) -> None:
    """No more is read than it may write."""
    ended = await python(tmp_path, "while True: print('x' * 1000)", Limits(output_bytes=5000, seconds=60))
    assert (ended.exceeded, ended.stdout) == ("output_bytes", (b"x" * 1000 + b"\n") * 4 + b"x" * 996)


async def test_a_program_within_its_limits_is_over_none(tmp_path: Path) -> None:
    """Exactly as much as it may write is not too much."""
    ended = await python(tmp_path, "print('x' * 4999)", Limits(output_bytes=5000, seconds=60))
    assert (ended.exceeded, len(ended.stdout), ended.exit_status) == (None, 5000, 0)


async def test_what_a_program_leaves_behind_is_ended_and_named(tmp_path: Path) -> None:
    """A process in a session of its own outlives its parent, but not the call."""
    mark = uuid.uuid4().hex
    told: list[tuple[str, ...]] = []
    ended = await run(
        [sys.executable, "-c", LEAVES_ONE_BEHIND],
        folder=tmp_path, env={**ENV, "MARK": mark}, limits=AMPLE, on_end=told.append,
    )  # fmt: skip
    assert len(ended.orphaned_processes) == 1
    assert told == [ended.orphaned_processes]
    assert not marked(mark)


async def test_a_cancelled_call_ends_its_program(tmp_path: Path) -> None:
    """Nothing that was started outlives who has started it; `on_end` is called all the same."""
    mark = uuid.uuid4().hex
    said, told = asyncio.Event(), list[tuple[str, ...]]()
    env = {**ENV, "MARK": mark}
    command = [sys.executable, "-c", SLEEPS]
    work = run(command, folder=tmp_path, env=env, limits=AMPLE, on_output=said.set, on_end=told.append)
    call = asyncio.create_task(work)
    await said.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert told == [()]
    assert not marked(mark)


async def test_a_program_that_is_not_there_is_the_machines_fault(tmp_path: Path) -> None:
    """It may be there the next time."""
    with pytest.raises(ProgramError, match=r"cannot start './missing': No such file") as caught:
        await run(["./missing"], folder=tmp_path, env=ENV, limits=AMPLE)
    assert caught.value.of_machine


@pytest.mark.parametrize("argument", ["x" * 3_000_000, "\0"])
async def test_an_argument_that_no_program_can_have_is_the_callers_fault(tmp_path: Path, argument: str) -> None:
    """Too long, or with a null character in it: another try would end in the same way."""
    with pytest.raises(ProgramError, match="cannot start") as caught:
        await run([sys.executable, argument], folder=tmp_path, env=ENV, limits=AMPLE)
    assert not caught.value.of_machine


async def test_a_path_is_relative_to_the_folder_that_is_named_for_it(tmp_path: Path) -> None:
    """A program beside the config works in another folder."""
    (tmp_path / "tools").mkdir()
    script = tmp_path / "tools" / "where"
    script.write_text("#!/bin/sh\npwd\n")
    script.chmod(0o700)
    ended = await run(["./where"], folder=tmp_path, relative_to=script.parent, env=ENV, limits=AMPLE)
    assert ended.stdout.decode().strip().endswith(f"/{tmp_path.name}")
