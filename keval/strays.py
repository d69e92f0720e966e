"""Finds processes that a task started and that bear no mark of it any more: orphans that keval adopts.

A process that empties its environment and leads a session of its own is nobody's when its parent has
ended. Linux lets keval be the parent of such orphans among its descendants. Which task one belongs to
is told by when it began: if only one task was running then that was it. Otherwise it is ended when
the last of those tasks ends. Elsewhere than on Linux nothing is adopted, and nothing is found.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

PR_SET_CHILD_SUBREAPER = 36
"""What Linux calls a process that adopts the orphans among its descendants."""

SLACK_S = 0.05
"""The system counts the time at which a process begins in hundredths of a second."""

UNCLAIMED_S = 60.0
"""So long after its end a process of ours has been asked how it ended; one that has not is an adopted one."""

_lock = threading.Lock()
_tasks: dict[str, float] = {}
"""When each task that is in flight began, in seconds since the machine did."""

_strays: dict[psutil.Process, Stray] = {}
_ended: dict[int, float] = {}
"""When a child was first seen that has ended and that nobody has asked how."""

_outlived: set[int] = set()
"""Children that are none of the programs that tasks begin with."""

_noted: list[str] = []
_own_command_line: list[bytes] = []
"""Empty until orphans are adopted."""


@dataclass(slots=True)
class Stray:
    """An adopted process without a mark."""

    owners: set[str]
    """Tasks in flight that may have started it."""
    is_attributed: bool
    """Whether there was only one when it was first seen."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What Linux says of a process."""

    state: str
    session: int
    began_s: float
    """Seconds since the machine began."""


def adopt(mark: str) -> None:
    """Adopt from now on the orphans among this process's descendants, where the system can do that.

    `mark` is a variable that what keval starts itself inherits: such a process is no stray.
    """
    if _own_command_line or not Path("/proc/self/stat").exists():
        return
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
        os.environ.setdefault(mark, str(os.getpid()))
        _own_command_line.append(Path("/proc/self/cmdline").read_bytes())


def begin(token: str) -> None:
    """Take note that a task begins."""
    with _lock:
        _tasks[token] = _now()


def end(token: str) -> None:
    """Take note that a task has ended."""
    with _lock:
        _tasks.pop(token, None)
        for stray in _strays.values():
            stray.owners.discard(token)


def that_end_with(token: str) -> set[psutil.Process]:
    """Return the living strays that no task can have started that goes on when this one ends."""
    with _lock:
        _look()
        return {process for process, stray in _strays.items() if stray.owners <= {token}}


def is_attributed(process: psutil.Process) -> bool:
    """Return whether a process is known to be of one task: by its mark, or because there was only one."""
    stray = _strays.get(process)
    return stray is None or stray.is_attributed


def note(names: Iterable[str]) -> None:
    """Keep the names of strays of which nobody can tell whose they were."""
    _noted.extend(names)


def noted() -> list[str]:
    """Return the names that were kept, and forget them."""
    names = sorted(_noted)
    _noted.clear()
    return names


def outlived(pids: Iterable[int]) -> None:
    """Take note that these processes were not started by keval itself: nobody but us asks how they end."""
    with _lock:
        _outlived.update(pids)


def _look() -> None:
    """Find new strays, forget those that have ended, and take note of how adopted processes ended."""
    if not _own_command_line:
        return
    children = _children()
    _outlived.intersection_update(children)
    for gone in [process for process in _strays if process.pid not in children]:
        del _strays[gone]
    for pid in _ended.keys() - children:
        del _ended[pid]
    own = os.getsid(0)
    for pid in children:
        child = seen(pid)
        if child is None or child.session == own:
            continue
        if child.state in "ZX":
            _bury(pid, child)
        elif not _is_ours(pid):
            with suppress(psutil.Error):
                _add(psutil.Process(pid), child)


def _add(process: psutil.Process, child: Seen) -> None:
    if process not in _strays:
        owners = {token for token, began_s in _tasks.items() if began_s <= child.began_s + SLACK_S}
        _strays[process] = Stray(owners, is_attributed=len(owners) == 1)


def _bury(pid: int, child: Seen) -> None:
    """Ask an adopted process how it ended: until then the system keeps it.

    One that we started ourselves is asked by whoever started it, and leads its session.
    """
    since = _ended.setdefault(pid, _now())
    is_stray = any(process.pid == pid for process in _strays)
    if child.session != pid or is_stray or pid in _outlived or _now() - since > UNCLAIMED_S:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _children() -> set[int]:
    """Return the ids of our children, none where the system does not list them."""
    found: set[int] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found.update(map(int, listed.read_text().split()))
    return found


def seen(pid: int) -> Seen | None:
    """Return what the system says of a process, None if there is none, or on another system than Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Seen(fields[0], int(fields[3]), int(fields[19]) / os.sysconf("SC_CLK_TCK"))


def _is_ours(pid: int) -> bool:
    """Return whether a process bears a mark, or is a copy of this one that has not become another program yet."""
    folder = Path(f"/proc/{pid}")
    try:
        marked = b"KEVAL_" in (folder / "environ").read_bytes()
        return marked or (folder / "cmdline").read_bytes() in _own_command_line
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return True  # it has ended, or is not ours to look at


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
