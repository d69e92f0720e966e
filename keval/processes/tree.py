"""Ends every process that a task started, whatever it did to get away.

A task's processes carry a random token in the environment they were started with: it survives
`setsid`, a second fork and the death of the parent. What has lost its environment is found by the
session that the task's first process leads, as a descendant of the others, or, where the system can
give keval the orphans, among those (`orphans.py`). A keval that is killed cannot end its tasks; the
next one does.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Collection, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil

from keval.errors import EnvironmentLacksError
from keval.ids import digest
from keval.processes import machine, orphans
from keval.processes.orphans import adopted

Result = TypeVar("Result")

TOKEN = "KEVAL_TASK"  # noqa: S105 - the name of an environment variable
"""The environment variable that marks a task's processes."""

LOG = "KEVAL_LOG"
"""The environment variable that says for which log they work."""

OWNER = "KEVAL_OWNER"
"""The environment variable that says which keval started them."""

GRACE_S = 0.5
"""How long a process may take to end after SIGTERM."""

LOOK_EVERY_S = 0.01
"""How often dying processes are looked at: nobody tells of the end of one that is not our child."""

PATIENCE_S = 10.0
"""How long a look at the processes is tried again while the machine has no file or memory for it."""

KILL_ROUNDS = 20
"""How often the survivors are looked for and killed, for programs that start others while they die."""


def adopt_orphans() -> None:
    """Be the parent of what tasks leave behind, where the system can do that: it can be found then."""
    adopted.begin()


def new_token() -> str:
    """Begin a task: return a token that no other task has. It ends with `end_tree`."""
    token = secrets.token_hex(16)
    adopted.begin_task(token)
    return token


def mark(log_mark: str) -> dict[str, str]:
    """Return the variables that say for which log a task works, and for which keval."""
    return {LOG: log_mark, OWNER: f"{os.getpid()}-{_began(os.getpid())}"}


def log_mark(log: Path) -> str:
    """Return what stands for a log, whatever that is called. Raises EnvironmentLacksError when there is no log."""
    try:
        status = log.stat()
    except OSError as error:
        raise EnvironmentLacksError(f"{log}: {error.strerror}; nothing is asked without a log") from error
    return digest("log", status.st_dev, status.st_ino)


def _began(pid: int) -> str | None:
    """Return when a process began, in a form that clocks do not change, None when it is not alive."""
    try:
        process = psutil.Process(pid)
        if not is_alive(process):
            return None
        found = orphans.seen(pid)
        return str(process.create_time() if found is None else found.began_s)
    except psutil.NoSuchProcess:
        return None


async def end_orphans(log_mark: str) -> list[str]:
    """End what tasks for a log are still running whose keval is dead, and return the names of the processes."""
    orphaned = await asyncio.to_thread(_tokens, log_mark)
    return [name for token in sorted(orphaned) for name in await end_tree(token, everywhere=True)]


def _tokens(mark: str) -> set[str]:
    """Return the tokens of all living processes that bear a log's mark and that of a dead keval."""
    found = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            environ = process.environ()
            if environ.get(LOG) == mark and TOKEN in environ and _is_orphaned(environ):
                found.add(environ[TOKEN])
    return found


def _is_orphaned(environ: Mapping[str, str]) -> bool:
    pid, _, began = environ.get(OWNER, "").partition("-")
    return pid.isdecimal() and _began(int(pid)) != began


def of_task(token: str, session: int | None = None, *, everywhere: bool = False) -> set[psutil.Process]:
    """Return the living processes of the task with this token, and the orphans that end with it.

    `session` is the session id of the task, if it has one of its own. A task of this keval is looked for
    below it where it adopts orphans, `everywhere` otherwise. Raises OSError when the machine has no more
    of what it takes to look.
    """
    below = adopted.look(token) if adopted.is_on else orphans.Descendants(set(), set())
    found = set()
    for pid in psutil.pids() if everywhere or not adopted.is_on else below.alive:
        try:
            process = psutil.Process(pid)
            if _belongs(process, token, session):
                found.add(process)
        except (psutil.Error, OSError) as error:
            if machine.exhausted(error) is not None:
                raise
            # It has ended while it was looked at, or belongs to somebody else: it is none of ours.
    found |= _below(found)
    return {process for process in found if is_alive(process)} | below.ending


def _below(roots: Collection[psutil.Process]) -> set[psutil.Process]:
    """Return all processes below some, without asking any other of the machine where the system can tell."""
    found: set[psutil.Process] = set()
    for root in roots:
        with suppress(psutil.Error):
            if adopted.is_on:
                found.update(filter(None, map(running, orphans.pids_below(root.pid))))
            else:
                found.update(root.children(recursive=True))
    return found


def _belongs(process: psutil.Process, token: str, session: int | None) -> bool:
    mark = process.environ().get(TOKEN)
    if mark is not None:
        return mark == token
    return session is not None and os.getsid(process.pid) == session


def running(pid: int) -> psutil.Process | None:
    """Return the process with an id, None if there is none."""
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process has not ended; one that cannot be looked at has not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except (psutil.Error, OSError):
        return True


async def _left(token: str, session: int | None, *, everywhere: bool = False) -> set[psutil.Process]:
    """Return what is left of a task; looks again while the machine has no more of what it takes to look.

    After `PATIENCE_S` nothing is returned, and the task is kept for `end_unmarked`.
    """
    for _ in range(round(PATIENCE_S / LOOK_EVERY_S)):
        try:
            return await asyncio.to_thread(of_task, token, session, everywhere=everywhere)
        except (OSError, RuntimeError) as error:  # RuntimeError: there is no thread to be had
            if machine.exhausted(error) is None:
                raise
        await asyncio.sleep(LOOK_EVERY_S)
    adopted.keep_task(token, session)
    return set()


async def end_first(token: str, session: int) -> None:
    """End the process that leads the task's session and group, as a terminal would that is closed.

    The others have `GRACE_S` to follow it. What `end_tree` finds afterwards would have been left behind.
    """
    with suppress(OSError):
        os.killpg(session, signal.SIGTERM)
    with suppress(psutil.Error, OSError):  # it has ended, or there is no file to look at it with
        first = psutil.Process(session)
        await _wait([first], GRACE_S)
        first.kill()
    await _wait(await _left(token, session), GRACE_S)


async def end_tree(
    token: str, session: int | None = None, grace_s: float = GRACE_S, *, everywhere: bool = False
) -> list[str]:
    """End what is left of a task: SIGTERM, a short wait, SIGKILL until nothing is found.

    Returns the names of the processes that were still alive, empty when there was none. Takes
    little longer than `grace_s`. When cancelled it kills at once. While the machine has no more of
    what it takes to look it is patient, and then leaves the rest to `end_unmarked`: an answer is not
    lost for it. `everywhere` is for the task of another keval.
    """
    try:
        left = await _left(token, session, everywhere=everywhere)
        names = sorted(_name(process) for process in left if adopted.has_known_task(process))
        adopted.keep_names(_name(process) for process in left if not adopted.has_known_task(process))
        if session is not None:
            adopted.reap_later(process.pid for process in left if process.pid != session)
        _signal(left, kill=False)
        await _wait(left, grace_s)
        for _ in range(KILL_ROUNDS if left else 0):
            left = await _left(token, session, everywhere=everywhere)
            if not left:
                break
            _signal(left, kill=True)
            await _wait(left, grace_s)
    except asyncio.CancelledError:
        with suppress(OSError, RuntimeError, psutil.Error):  # that it was cancelled is what counts
            _signal(of_task(token, session, everywhere=everywhere), kill=True)
        raise
    finally:
        adopted.end_task(token)
    return names


async def end_unmarked() -> list[str]:
    """End what tasks left that could not be found or told whose it was, and return the names of all of it.

    For the end of a run, when no task is in flight.
    """
    names = [name for kept in adopted.take_tasks().items() for name in await end_tree(*kept)]
    names += adopted.take_names()
    found_before = True
    for _ in range(KILL_ROUNDS):
        found = await end_tree(new_token()) + adopted.take_names()
        names += found
        if not found and not found_before:
            break
        # A process whose parent ends in the very moment of a look is missed by that one, not by the next.
        found_before = bool(found)
        await asyncio.sleep(LOOK_EVERY_S)
    return sorted(names)


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except (psutil.Error, OSError):
        return f"process {process.pid}"


def _signal(processes: Collection[psutil.Process], *, kill: bool) -> None:
    for process in processes:
        with suppress(psutil.Error, OSError):
            if kill:
                process.kill()
            else:
                process.terminate()


async def _wait(processes: Collection[psutil.Process], seconds: float) -> None:
    """Wait until none of the processes is alive, at most so long."""
    for _ in range(round(seconds / LOOK_EVERY_S)):
        if not any(is_alive(process) for process in processes):
            break
        await asyncio.sleep(LOOK_EVERY_S)


async def to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await a clean-up to its end even if the caller is cancelled meanwhile; that is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():  # the loop itself is ending, and has ended the clean-up too
                raise
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()
