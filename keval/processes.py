"""Ends every process that a task started, whatever it did to get away.

A task's processes carry a random token in the environment they were started with: it survives
`setsid`, a second fork and the death of the parent. What has lost its environment is found by the
session that the task's first process leads, or as a descendant of the others. A keval that is
killed cannot end its tasks; the next one does.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Collection, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil

from keval.ids import digest

Result = TypeVar("Result")

TOKEN = "KEVAL_TASK"  # noqa: S105 - the name of an environment variable
"""The environment variable that marks a task's processes."""

LOG = "KEVAL_LOG"
"""The environment variable that says for which log they work."""

GRACE_S = 0.5
"""How long a process may take to end after SIGTERM."""

LOOK_EVERY_S = 0.01
"""How often dying processes are looked at: nobody tells of the end of one that is not our child."""

KILL_ROUNDS = 20
"""How often the survivors are looked for and killed, for programs that start others while they die."""


def new_token() -> str:
    """Return a token that no other task has."""
    return secrets.token_hex(16)


def mark_of(log: Path) -> dict[str, str]:
    """Return the variable that says for which log a task works."""
    return {LOG: digest("log", str(log.resolve()))}


async def end_orphans(log: Path) -> list[str]:
    """End what tasks for a log are still running, and return the names of the processes.

    For a command that holds the log's lease: nobody else works for it, so whoever began them was killed.
    """
    orphaned = await asyncio.to_thread(_tokens, mark_of(log)[LOG])
    return [name for token in sorted(orphaned) for name in await end_tree(token)]


def _tokens(mark: str) -> set[str]:
    """Return the tokens of all living processes that bear a log's mark."""
    found = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            environ = process.environ()
            if environ.get(LOG) == mark and TOKEN in environ:
                found.add(environ[TOKEN])
    return found


def of_task(token: str, session: int | None = None) -> set[psutil.Process]:
    """Return the living processes of the task with this token.

    `session` is the session id of the task, if it has one of its own.
    """
    found = set()
    for pid in psutil.pids():
        # A process that ends while it is looked at, or belongs to somebody else, is none of ours.
        with suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            if _belongs(process, token, session):
                found.add(process)
    for process in tuple(found):
        with suppress(psutil.Error):
            found.update(process.children(recursive=True))
    return {process for process in found if _is_alive(process)}


def _belongs(process: psutil.Process, token: str, session: int | None) -> bool:
    mark = process.environ().get(TOKEN)
    if mark is not None:
        return mark == token
    return session is not None and os.getsid(process.pid) == session


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def end_first(token: str, session: int, grace_s: float = GRACE_S) -> None:
    """End the process that leads the task's session and group, as a terminal would that is closed.

    The others have `grace_s` to follow it. What `end_tree` finds afterwards would have been left behind.
    """
    with suppress(psutil.Error, ProcessLookupError):
        first = psutil.Process(session)
        os.killpg(session, signal.SIGTERM)
        await _wait([first], grace_s)
        first.kill()
    await _wait(await asyncio.to_thread(of_task, token, session), grace_s)


async def end_tree(token: str, session: int | None = None, grace_s: float = GRACE_S) -> list[str]:
    """End what is left of a task: SIGTERM, a short wait, SIGKILL until nothing is found.

    Returns the names of the processes that were still alive, empty when there was none. Takes
    little longer than `grace_s`. When cancelled it kills at once.
    """
    try:
        left = await asyncio.to_thread(of_task, token, session)
        names = sorted(_name(process) for process in left)
        _signal(left, kill=False)
        await _wait(left, grace_s)
        for _ in range(KILL_ROUNDS if left else 0):
            left = await asyncio.to_thread(of_task, token, session)
            if not left:
                break
            _signal(left, kill=True)
            await _wait(left, grace_s)
    except asyncio.CancelledError:
        _signal(of_task(token, session), kill=True)
        raise
    return names


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return f"process {process.pid}"


def _signal(processes: Collection[psutil.Process], *, kill: bool) -> None:
    for process in processes:
        with suppress(psutil.Error):
            if kill:
                process.kill()
            else:
                process.terminate()


async def _wait(processes: Collection[psutil.Process], seconds: float) -> None:
    """Wait until none of the processes is alive, at most so long."""
    for _ in range(round(seconds / LOOK_EVERY_S)):
        if not any(_is_alive(process) for process in processes):
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
