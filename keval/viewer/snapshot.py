"""Logs as they were at one moment, with their tables; and the newest such state, which a person asks for.

All pages of a state say the same, however long they are read, and however much is appended meanwhile. A log and its
index are opened to be read only: nothing here keeps a run from writing.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from keval import projections
from keval.errors import EnvironmentLacksError, KevalError, Warn
from keval.logs.collect import check_named_not_empty, collected
from keval.processes import temporary
from keval.projections import read_only
from keval.projections.log_file import LogFile
from keval.reports.overview import Overview, overview
from keval.viewer.news import News, ReadUpTo

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Result = TypeVar("Result")

LEAVING_S = 10.0
"""How long the end waits for pages that are being drawn, after their queries were broken off."""


INTERRUPTED_EVERY_S = 0.05


class Snapshot:
    """Logs as they were when they were opened."""

    def __init__(self, number: int, logs: Sequence[Path], warn: Warn, *, skip_invalid: bool) -> None:
        self.number = number
        self._kept = ExitStack()
        self._asking: set[DuckDBPyConnection] = set()
        self._lock = threading.Lock()
        self.report: Future[Any] | None = None
        """What `Snapshots.once` computes."""
        try:
            places = [ReadUpTo.of(log) for log in logs if log.is_file()]
            found = self._kept.enter_context(collected(logs, warn, skip_invalid=skip_invalid))
            check_named_not_empty(logs, found)
            folder = self._kept.enter_context(temporary.folder())
            self.files = [_apart(file, folder / f"{place}.index") for place, file in enumerate(found)]
            self._connection = self._kept.enter_context(projections.connect(self.files))
            read_only.lock(self._connection, [file.path for file in self.files])
        except BaseException:
            self._kept.close()
            raise
        self.news = News(places)

    @contextmanager
    def asked(self) -> Iterator[DuckDBPyConnection]:
        """Give a connection for one thread, which is shut off from everything but the logs."""
        with self._lock:
            cursor = self._connection.cursor()
            self._asking.add(cursor)
        try:
            yield cursor
        finally:
            with self._lock:
                self._asking.discard(cursor)
                cursor.close()

    @cached_property
    def overview(self) -> Overview:
        """What the logs hold in short."""
        with self.asked() as connection:
            return overview(connection)

    def interrupt(self) -> None:
        """Break off all queries that run now."""
        with self._lock:
            for cursor in self._asking:
                cursor.interrupt()

    def close(self) -> None:
        """Let go of the logs."""
        self._kept.close()


def _apart(file: LogFile, path: Path) -> LogFile:
    """Return a log with its index under a name of its own.

    DuckDB opens a file by its name, and a name that is open already as what was opened first: here an older index may
    still be open, which had the name before. Raises EnvironmentLacksError.
    """
    if file.stored is None:
        return file
    try:
        try:
            os.link(file.stored.path, path, follow_symlinks=True)
        except OSError:  # it lies on another disk, or is nobody's to link
            shutil.copyfile(file.stored.path, path)
    except OSError as error:
        raise EnvironmentLacksError(f"{path}: {error.strerror}; TMPDIR names another folder") from error
    return replace(file, stored=file.stored._replace(path=path))


class Snapshots:
    """The newest state of logs that somebody asked for, and older ones as long as a page is drawn from them."""

    def __init__(self, logs: Sequence[Path], warn: Warn, *, skip_invalid: bool = False) -> None:
        """Open the logs. Raises InputError and EnvironmentLacksError."""
        self.logs = tuple(logs)
        self._warn, self._warned = warn, set[str]()
        self._skip_invalid = skip_invalid
        self._opening = threading.Lock()
        self._changed = threading.Condition()
        self._users: dict[Snapshot, int] = {}
        self._is_over = False
        self._newest = self._opened(1)
        self._users[self._newest] = 0

    def _opened(self, number: int) -> Snapshot:
        return Snapshot(number, self.logs, self._tell, skip_invalid=self._skip_invalid)

    def _tell(self, message: str) -> None:
        """Say something once: a log that is opened again has the same faults."""
        if message not in self._warned:
            self._warned.add(message)
            self._warn(message)

    @contextmanager
    def newest(self) -> Iterator[Snapshot]:
        """Give the newest state, which stays open as long as this is entered."""
        with self._changed:
            snapshot = self._newest
            self._users[snapshot] += 1
        try:
            yield snapshot
        finally:
            self._leave(snapshot)

    def _leave(self, snapshot: Snapshot) -> None:
        with self._changed:
            self._users[snapshot] -= 1
            self._changed.notify_all()
            is_left = snapshot is not self._newest and not self._users[snapshot]
            if is_left:
                del self._users[snapshot]
        if is_left:
            snapshot.close()

    def once(self, snapshot: Snapshot, compute: Callable[[Snapshot], Result]) -> Future[Result]:
        """Return what is computed once of a state that is entered, in a thread of its own; it may not be done yet."""
        with self._changed:
            future: Future[Result] | None = snapshot.report
            if future is None:
                future = snapshot.report = Future()
                self._users[snapshot] += 1
                threading.Thread(
                    target=self._compute, args=[snapshot, compute, future], name="keval-report", daemon=True
                ).start()
        return future

    def _compute(self, snapshot: Snapshot, compute: Callable[[Snapshot], Result], future: Future[Result]) -> None:
        try:
            future.set_result(compute(snapshot))
        except BaseException as error:  # noqa: BLE001 - whoever waits for the result raises it
            future.set_exception(error)
        finally:
            self._leave(snapshot)

    def look(self, after: str) -> str | None:
        """Return in words what is new to a page that shows the state of a number; None if nothing is."""
        with self.newest() as snapshot:
            with self._opening:
                found = snapshot.news.look()
            return "newer answers" if found is None and str(snapshot.number) != after else found

    def renew(self) -> None:
        """Open the logs as they are now, if something is new. Raises InputError and EnvironmentLacksError."""
        with self._opening:
            with self._changed:
                old = self._newest
            if old.news.look() is None or self._is_over:
                return
            opened = self._opened(old.number + 1)
            with self._changed:
                self._newest = opened
                self._users[opened] = 0
                is_left = not self._users[old]
                if is_left:
                    del self._users[old]
        if is_left:
            old.close()

    def close(self) -> None:
        """Break off what is being drawn, and let go of the logs."""
        with self._changed:
            self._is_over = True
            ends_at = time.monotonic() + LEAVING_S
            while any(self._users.values()) and time.monotonic() < ends_at:
                for snapshot in self._users:
                    snapshot.interrupt()  # again and again: a page may ask several things
                self._changed.wait(INTERRUPTED_EVERY_S)
            left = [snapshot for snapshot, users in self._users.items() if not users]
        for snapshot in left:
            with suppress(KevalError):
                snapshot.close()
