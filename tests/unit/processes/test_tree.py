from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from keval.errors import EnvironmentLacksError
from keval.processes import tree

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: open(sys.argv[1] + ".told", "w").close())
{body}
open(sys.argv[1], "a").write(f"{{os.getpid()}}\\n")
time.sleep(600)
"""

ALONE = STUBBORN.format(body="")
DAEMON = STUBBORN.format(body="if os.fork(): sys.exit()\nos.setsid()\nif os.fork(): sys.exit()")
FAMILY = STUBBORN.format(body="os.fork()")
FORGETFUL_CHILD = STUBBORN.format(
    body="""
if len(sys.argv) == 2 and not os.fork():
    os.setsid()
    os.execve(sys.executable, [*sys.orig_argv, 'again'], {})
"""
)
FORGETFUL_ORPHAN = STUBBORN.format(
    body="""
if len(sys.argv) == 2:
    if os.fork(): sys.exit()
    os.execve(sys.executable, [*sys.orig_argv, 'again'], {})
"""
)


class Started:
    """Starts programs that carry a task's token and waits until they have told their process ids."""

    def __init__(self, folder: Path) -> None:
        self.token = tree.new_token()
        self.pids = folder / "pids"
        self.first: subprocess.Popen[bytes] | None = None

    def start(self, program: str, count: int, env: Mapping[str, str] | None = None) -> list[psutil.Process]:
        env = {**os.environ, **(env or {}), tree.TOKEN: self.token}
        self.first = subprocess.Popen([sys.executable, "-c", program, str(self.pids)], env=env, start_new_session=True)
        deadline = time.monotonic() + 20
        while len(self._told()) < count:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return [psutil.Process(pid) for pid in self._told()]

    def _told(self) -> list[int]:
        return [int(pid) for pid in self.pids.read_text().split()] if self.pids.exists() else []

    async def was_told_to_end(self) -> None:
        """Wait until one of the programs has met SIGTERM."""
        deadline = time.monotonic() + 20
        while not self.pids.with_suffix(".told").exists():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    @property
    def session(self) -> int:
        assert self.first is not None
        return self.first.pid

    def clean_up(self) -> None:
        for pid in self._told():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.first is not None:
            self.first.wait()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    task = Started(tmp_path)
    yield task
    task.clean_up()


def is_gone(process: psutil.Process) -> bool:
    """Return whether a process has ended; a zombie has, and its parent was told."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    ("program", "count"),
    [(ALONE, 1), (DAEMON, 1), (FAMILY, 2), (FORGETFUL_CHILD, 2), (FORGETFUL_ORPHAN, 1)],
    ids=["alone", "daemon", "family", "child without environment", "orphan without environment"],
)
async def test_nothing_survives_the_end_of_its_task(started: Started, program: str, count: int) -> None:
    """Deafness to SIGTERM, a session of its own, dead parents and an emptied environment save no process."""
    running = started.start(program, count)
    names = await tree.end_tree(started.token, started.session, grace_s=0.1)
    assert all(is_gone(process) for process in running)
    assert len(names) >= count


async def test_a_process_that_ignores_its_end_is_waited_for_no_longer_than_the_grace_period(started: Started) -> None:
    """A clean-up asks once and then kills: how long it waits between the two is what its caller says."""
    running = started.start(FAMILY, 2)
    ending = asyncio.create_task(tree.end_tree(started.token, grace_s=0.3))
    await started.was_told_to_end()
    assert len(await ending) == 2
    assert all(is_gone(process) for process in running)


WITHOUT_FILES = """
import asyncio, os, resource, subprocess, sys
from keval.processes import tree

tree.PATIENCE_S = 0.05

async def main():
    token = tree.new_token()
    env = {**os.environ, tree.TOKEN: token}
    left = subprocess.Popen(["sleep", "60"], env=env, start_new_session=True, stdout=subprocess.DEVNULL)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    CLEANS_UP
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    print(told, left.poll())
    print(await tree.end_unmarked(), left.wait())

asyncio.run(main())
"""

ENDS = "told = await tree.end_tree(token)"
ENDS_FIRST = "told = await tree.end_first(token, left.pid)"
IS_CANCELLED = """
    ending = asyncio.create_task(tree.end_tree(token))
    await asyncio.sleep(0.01)
    ending.cancel()
    told = (await asyncio.gather(ending, return_exceptions=True))[0].__class__.__name__
    tree.adopted.keep_task(token, None)
"""


def test_a_clean_up_that_cannot_look_loses_no_answer(tmp_path: Path) -> None:
    """Without a file to be had it raises nothing; what it could not find is ended with the run."""
    program = WITHOUT_FILES.replace("CLEANS_UP", ENDS)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "[] None\n['sleep'] -15\n", done.stderr


def test_the_first_process_is_told_to_end_although_nobody_can_look_at_it(tmp_path: Path) -> None:
    """A signal needs no file."""
    program = WITHOUT_FILES.replace("CLEANS_UP", ENDS_FIRST + "; left.wait()")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "None -15\n[] -15\n", done.stderr


def test_a_clean_up_that_is_cancelled_and_cannot_look_is_cancelled(tmp_path: Path) -> None:
    """What the machine lacks does not take the place of the cancellation."""
    program = WITHOUT_FILES.replace("    CLEANS_UP", IS_CANCELLED)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "CancelledError None\n['sleep'] -15\n", done.stderr


async def test_a_process_that_obeys_is_not_waited_for(started: Started) -> None:
    """The grace period is an upper limit, and SIGTERM comes first."""
    (running,) = started.start(
        "import os, sys, time\nopen(sys.argv[1], 'w').write(f'{os.getpid()}\\n')\ntime.sleep(600)", 1
    )
    begun = time.monotonic()
    await tree.end_tree(started.token, grace_s=60)
    assert time.monotonic() - begun < 30
    assert is_gone(running)
    assert started.first is not None
    assert started.first.wait() == -signal.SIGTERM


async def test_a_task_without_processes_has_nothing_to_end() -> None:
    """An empty list says that nothing had survived."""
    assert await tree.end_tree(tree.new_token()) == []


async def test_processes_of_another_task_are_left_alone(started: Started) -> None:
    """A token ends only its own task, even if a session id was used before by somebody else."""
    (running,) = started.start(ALONE, 1)
    assert await tree.end_tree(tree.new_token(), started.session) == []
    assert running.is_running()


async def test_a_cancelled_end_kills_at_once(started: Started) -> None:
    """When even the clean-up is cancelled it does not wait for anybody."""
    running = started.start(FAMILY, 2)
    ending = asyncio.create_task(tree.end_tree(started.token, grace_s=600))
    await started.was_told_to_end()
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    psutil.wait_procs(running, timeout=10)
    assert all(is_gone(process) for process in running)


async def test_a_clean_up_runs_to_its_end_when_its_caller_is_cancelled() -> None:
    """Cancelling once or twice delays nothing and loses nothing: first the clean-up ends, then the caller."""
    begun, done = asyncio.Event(), asyncio.Event()

    async def clean_up() -> None:
        begun.set()
        await asyncio.sleep(0.1)
        done.set()

    caller = asyncio.create_task(tree.to_the_end(clean_up()))
    await begun.wait()
    for _ in range(2):
        caller.cancel()
        await asyncio.sleep(0)
        assert not caller.done()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done.is_set()


async def test_a_clean_up_gives_its_result_and_its_error() -> None:
    """Uncancelled it is a plain await."""

    async def give(value: int) -> int:
        return 1 // value

    assert await tree.to_the_end(give(1)) == 1
    with pytest.raises(ZeroDivisionError):
        await tree.to_the_end(give(0))


def test_a_loop_that_ends_kills_what_its_clean_up_was_about(started: Started) -> None:
    """When the event loop itself is shut down in the middle, its processes still go."""
    running = started.start(FAMILY, 2)

    async def main() -> None:
        ending = asyncio.ensure_future(tree.to_the_end(tree.end_tree(started.token, grace_s=600)))
        await started.was_told_to_end()
        assert not ending.done()

    asyncio.run(main())
    psutil.wait_procs(running, timeout=10)
    assert all(is_gone(process) for process in running)


def mark_of_a_dead_keval(log: Path) -> dict[str, str]:
    """Return the mark that a process gave its tasks before it was killed."""
    program = (
        "import json, os, pathlib, sys\nfrom keval.processes import tree\n"
        "print(json.dumps(tree.mark(tree.log_mark(pathlib.Path(sys.argv[1])))), flush=True)\nos.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(log)], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return dict(json.loads(done.stdout))


def symlinked(log: Path) -> Path:
    other = log.with_name("symlink")
    other.symlink_to(log)
    return other


def hard_linked(log: Path) -> Path:
    other = log.with_name("hard link")
    other.hardlink_to(log)
    return other


def moved(log: Path) -> Path:
    return log.rename(log.with_name("moved"))


OTHER_NAMES: list[Callable[[Path], Path]] = [Path, symlinked, hard_linked, moved]


@pytest.mark.parametrize("other_name", OTHER_NAMES)
def test_what_a_dead_keval_left_for_a_log_is_ended(
    started: Started, tmp_path: Path, other_name: Callable[[Path], Path]
) -> None:
    """However far it got away and whatever the log is called by now; no task for another log is touched."""
    log, another = tmp_path / "log.jsonl", tmp_path / "other.jsonl"
    log.touch()
    another.touch()
    orphans = started.start(DAEMON, 1, mark_of_a_dead_keval(log))
    other = Started(tmp_path)
    other.pids = tmp_path / "other"
    (living,) = other.start(ALONE, 1, mark_of_a_dead_keval(another))
    try:
        assert asyncio.run(tree.end_orphans(tree.log_mark(other_name(log)))) == [Path(sys.executable).name]
        assert living.is_running()
        assert all(is_gone(process) for process in orphans)
    finally:
        other.clean_up()


@pytest.mark.parametrize("other_name", OTHER_NAMES)
def test_a_living_kevals_processes_are_no_orphans(
    started: Started, tmp_path: Path, other_name: Callable[[Path], Path]
) -> None:
    """Whoever comes by the log under another name leaves the agents of a command at work alone."""
    log = tmp_path / "log.jsonl"
    log.touch()
    (working,) = started.start(ALONE, 1, tree.mark(tree.log_mark(log)))
    program = (
        "import asyncio, pathlib, sys\nfrom keval.processes import tree\n"
        "print(asyncio.run(tree.end_orphans(tree.log_mark(pathlib.Path(sys.argv[1])))))"
    )
    command = [sys.executable, "-c", program, str(other_name(log))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert not is_gone(working)


def test_another_process_with_the_id_of_a_dead_keval_is_not_taken_for_it(started: Started, tmp_path: Path) -> None:
    """A process id is used again; the time at which the process began is not."""
    log = tmp_path / "log.jsonl"
    log.touch()
    mark = tree.mark(tree.log_mark(log))
    mark[tree.OWNER] = f"{os.getpid()}-1.0"
    (orphan,) = started.start(ALONE, 1, mark)
    asyncio.run(tree.end_orphans(tree.log_mark(log)))
    assert is_gone(orphan)


def test_a_mark_needs_a_log(tmp_path: Path) -> None:
    """A log that is not there has no identity."""
    with pytest.raises(EnvironmentLacksError, match="no-log: No such file"):
        tree.log_mark(tmp_path / "no-log")


def test_tokens_differ() -> None:
    """No two tasks share a token."""
    assert len({tree.new_token() for _ in range(1000)}) == 1000
