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
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

PR_SET_CHILD_SUBREAPER = 36
"""What Linux calls a process that adopts the orphans among its descendants."""

STARTED_BY = "KEVAL_STARTED_BY"
"""The environment variable with keval's process id in what keval starts with the environment that it has itself."""

MARKS = (b"KEVAL_TASK=", b"KEVAL_OWNER=", STARTED_BY.encode() + b"=")
"""How an entry of the environment begins that says whose a process is."""

ENDED = "ZX"
"""The states of a process that has ended."""

SLACK_S = 0.05
"""The system counts the time at which a process begins in hundredths of a second."""


@dataclass(slots=True)
class Orphan:
    """An adopted process without a mark."""

    tasks: set[str]
    """Tokens of the tasks in flight that may have started it."""
    had_one_task: bool
    """Whether there was only one when it was first seen."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What Linux says of a process."""

    state: str
    parent: int
    session: int
    began_s: float
    """Seconds since the machine began."""


@dataclass(frozen=True, slots=True)
class Descendants:
    """What was found below this process."""

    alive: set[int]
    """The ids of all processes there that have not ended."""
    ending: set[psutil.Process]
    """The orphans that no task can have started that goes on when the one ends that is asked about."""


class Adopted:
    """The orphans of this process: one object keeps what is known of them and of the tasks in flight."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        """Held while the processes are read, which takes its time: for threads, not for the event loop."""
        self._lock = threading.Lock()
        """Held for a moment, while what is known below is read or changed."""
        self._own_command_line = b""
        self._tasks: dict[str, float] = {}
        """When each task that is in flight began, in seconds since the machine did."""
        self._orphans: dict[psutil.Process, Orphan] = {}
        self._not_started_here: set[int] = set()
        """Processes that were seen below another parent, or with a task: nobody but us asks how they end."""
        self._unnamed: list[str] = []
        self._unended: dict[str, int | None] = {}

    @property
    def is_on(self) -> bool:
        """Whether all that tasks start stays below this process."""
        return bool(self._own_command_line)

    def begin(self) -> None:
        """Adopt from now on the orphans among this process's descendants, where the system can do that."""
        if self.is_on or not Path("/proc/self/stat").exists():
            return
        if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
            os.environ[STARTED_BY] = str(os.getpid())
            self._own_command_line = Path("/proc/self/cmdline").read_bytes()

    def begin_task(self, token: str) -> None:
        """Take note that a task begins."""
        with self._lock:
            self._tasks[token] = _now()

    def end_task(self, token: str) -> None:
        """Take note that a task has ended."""
        with self._lock:
            self._tasks.pop(token, None)
            for orphan in self._orphans.values():
                orphan.tasks.discard(token)

    def look(self, token: str) -> Descendants:
        """Return what is below this process, and which of it ends with a task; for where orphans are adopted."""
        with self._looking:
            with self._lock:
                began = dict(self._tasks)
            found = {pid: process for pid in pids_below(os.getpid()) if (process := seen(pid)) is not None}
            unmarked = {pid for pid, process in found.items() if self._is_orphan(pid, process)}
            with self._lock:
                self._note(found, unmarked, began)
                ending = {
                    process
                    for process, orphan in self._orphans.items()
                    if orphan.tasks <= {token} and found[process.pid].state not in ENDED
                }
        return Descendants({pid for pid, process in found.items() if process.state not in ENDED}, ending)

    def has_known_task(self, process: psutil.Process) -> bool:
        """Return whether a process is known to be of one task: by its mark, or because there was only one."""
        orphan = self._orphans.get(process)
        return orphan is None or orphan.had_one_task

    def keep_names(self, names: Iterable[str]) -> None:
        """Keep the names of orphans of which nobody can tell whose they were."""
        self._unnamed.extend(names)

    def take_names(self) -> list[str]:
        """Return the names that were kept, and forget them."""
        names, self._unnamed = sorted(self._unnamed), []
        return names

    def keep_task(self, token: str, session: int | None) -> None:
        """Keep a task of which nobody could see whether all its processes have ended."""
        self._unended[token] = session

    def take_tasks(self) -> dict[str, int | None]:
        """Return the tasks that were kept with their sessions, and forget them."""
        tasks, self._unended = self._unended, {}
        return tasks

    def reap_later(self, pids: Iterable[int]) -> None:
        """Take note that these processes were left behind by a task: nobody but us asks how they end."""
        with self._lock:
            self._not_started_here.update(pids)

    def _note(self, found: Mapping[int, Seen], unmarked: set[int], began: dict[str, float]) -> None:
        """Keep new orphans, forget those that have ended, and ask adopted processes how they ended."""
        own = os.getpid()
        self._not_started_here.intersection_update(found)
        self._not_started_here.update(pid for pid, process in found.items() if process.parent != own)
        for gone in [process for process in self._orphans if process.pid not in found or not process.is_running()]:
            del self._orphans[gone]
        for pid in unmarked:
            with suppress(psutil.Error):
                self._add(psutil.Process(pid), found[pid].began_s, began)
        for pid, process in found.items():
            if process.parent == own and process.state in ENDED:
                self._reap(pid, process)

    def _add(self, process: psutil.Process, began_s: float, began: dict[str, float]) -> None:
        """Keep an orphan. A task that has ended since the processes were read may be the one that started it."""
        if process not in self._orphans:
            tasks = {token for token, begin_s in (began | self._tasks).items() if begin_s <= began_s + SLACK_S}
            self._orphans[process] = Orphan(tasks & self._tasks.keys(), had_one_task=len(tasks) == 1)

    def _reap(self, pid: int, process: Seen) -> None:
        """Ask an adopted process how it ended: until then the system keeps it.

        A program that we started ourselves is asked by whoever started it: it is in our session, or leads its own.
        One of which nobody knows whether it is such a program stays until keval ends.
        """
        if process.session == os.getsid(0):
            return
        is_orphan = any(orphan.pid == pid for orphan in self._orphans)
        if process.session != pid or is_orphan or pid in self._not_started_here:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _is_orphan(self, pid: int, process: Seen) -> bool:
        """Return whether a process is a living child of ours without a mark, in a session other than ours."""
        if process.parent != os.getpid() or process.session == os.getsid(0) or process.state in ENDED:
            return False
        # One that becomes another program, or ends, has no environment for a moment: none of these lasts for two looks.
        return all(self._is_unmarked(Path(f"/proc/{pid}")) for _ in range(2))

    def _is_unmarked(self, folder: Path) -> bool:
        """Return whether a process is a program that bears no mark, by its folder in /proc."""
        try:
            command_line = (folder / "cmdline").read_bytes()
            entries = (folder / "environ").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return False  # it has ended, or is not ours to look at
        # A copy of this process that has not become another program yet is ours as well.
        is_program = command_line not in (b"", self._own_command_line)
        return is_program and not any(entry.startswith(MARKS) for entry in entries)


adopted = Adopted()
"""The orphans of this process, of which there can be one set only."""


def pids_below(root: int) -> set[int]:
    """Return the ids of all processes below one, none where the system does not list them.

    A process whose parent ends meanwhile may move up to this one: it is looked again until nothing is new. What this
    costs depends on these processes, and on no others of the machine.
    """
    found: set[int] = set()
    while True:
        before = len(found)
        todo = [root]
        passed = set(todo)
        while todo:
            new = _children(todo.pop()) - passed
            passed |= new
            todo += new
        found |= passed - {root}
        if len(found) == before:
            return found


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                found.update(map(int, (thread / "children").read_text().split()))
    return found


def seen(pid: int) -> Seen | None:
    """Return what the system says of a process, None if there is none, or on another system than Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Seen(fields[0], int(fields[1]), int(fields[3]), int(fields[19]) / os.sysconf("SC_CLK_TCK"))


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
