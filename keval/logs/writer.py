"""Appends events to a log file so that none is ever lost, torn or written twice at once.

* A line is written by one `write` on an append-mode descriptor while an advisory lock is held,
  so `generate` and `judge` can write to one log at the same time.
* `append` returns when the line is on disk. Lines that arrive while an fsync runs share the next
  one, so that the wait is one fsync and the cost of it is shared.
* Complete lines are never changed. What a crash cut off in mid-write is moved to `<log>.torn`. A
  file that does not begin as a log is left as it is.
* A lock per stage: the second `generate` on one log is refused with the pid of the first.
* A log that is removed, moved, replaced or cut short while it is written to: what this command
  wrote, and what is in flight, goes to `<log>.rescued`.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import FileIO
from itertools import count
from pathlib import Path

from keval.errors import EnvironmentLacksError, KevalError, UsageError
from keval.events import encode
from keval.ids import JsonObject
from keval.logs import locks
from keval.logs.appended_file import AppendedFile, lines_of
from keval.logs.outputs import check_no_input

REOPENINGS = 100
"""How often a log is opened again that is replaced in the very moment, before we give up."""


class Log:
    """An open log that events are appended to; use `open_log`."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path = path
        self._warn = warn
        self._file = AppendedFile(path, warn)
        self._beside: AppendedFile | None = None
        self._rescue: AppendedFile | None = None
        self._lost: str | None = None
        self._stops: list[asyncio.Event] = []
        self._copy: FileIO | None = None
        self._keeps_copy = True
        self._written = 0
        self._number_beside = 0
        self._synced = 0
        self._sync_task: asyncio.Task[None] | None = None

    def tell(self, stop: asyncio.Event) -> None:
        """Let `stop` be set as soon as the log is no longer where it was: what is paid now would be hard to find."""
        self._stops.append(stop)

    async def append(self, event: JsonObject) -> None:
        """Append one event; it is on disk when this returns. Raises EnvironmentLacksError."""
        await self.write(encode(event))

    async def write(self, line: bytes) -> None:
        """Append the line of one event; it is on disk when this returns.

        Raises EnvironmentLacksError when the disk is full or broken; the log then ends where it
        ended before.
        """
        self._write(line)
        mine = self._written
        while self._synced < mine:
            if self._sync_task is None:
                self._sync_task = asyncio.create_task(self._sync())
            # Shielded: whoever stops waiting must not take the fsync from the others.
            await asyncio.shield(self._sync_task)

    def _write(self, line: bytes) -> None:
        self._look()
        (self._rescue or self._file).write(line)
        self._written += 1
        if self._rescue is None:
            self._keep(line)
        else:
            self._number_beside += 1

    async def _sync(self) -> None:
        written, file = self._written, self._rescue or self._file
        try:
            await asyncio.get_running_loop().run_in_executor(None, file.sync)
        finally:
            self._sync_task = None
        # Only now is it known that what is on disk is also where people will look for it.
        self._look()
        self._synced = max(written, self._synced)

    def _keep(self, line: bytes) -> None:
        """Keep a copy of a line until the log is closed: a log that is cut short leaves none."""
        if not self._keeps_copy:
            return
        try:
            if self._copy is None:
                self._copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the log
            whole = self._copy.write(line) == len(line)
            refused = None if whole else "no space left on the device"
        except OSError as error:
            refused = error.strerror
        if refused:
            self._keeps_copy = False
            if self._copy is not None:
                self._copy.close()  # the room that it took is needed
                self._copy = None
            self._warn(
                f"{self.path}: no room for a temporary copy of what is appended ({refused}): should another program cut"
                " the log short while this command writes to it, what stood there is lost; TMPDIR names another folder"
            )

    def _look(self) -> None:
        """Notice that the log is no longer what its path leads to, and put what was written to it beside."""
        if self._rescue is not None:
            return
        self._lost = self._lost or self._file.loss()
        if self._lost is None:
            return
        for stop in self._stops:
            stop.set()
        self._rescue = self._rescued()
        self._warn(
            f"{self.path} {self._lost} while it was written to; stopping: what is in flight will be finished"
            f" and goes to {self._rescue.path}"
        )

    def _rescued(self) -> AppendedFile:
        """Return the file beside the log with all that was written to the log in it."""
        self._beside = self._beside or _created_beside(self.path, self._warn)
        if self._written:
            self._number_beside = self._beside.pour(self._written_lines())
        self._beside.sync()
        self._synced = self._written
        return self._beside

    def _written_lines(self) -> Iterator[bytes]:
        """Return what this command wrote; without a copy, what anybody has written and what is left of it."""
        if self._copy is None:
            return self._file.since_opened()
        return lines_of(self._copy.fileno(), 0)

    @property
    def descriptor(self) -> int:
        """The open file that the log was when it was opened."""
        return self._file.descriptor

    @property
    def is_at_its_path(self) -> bool:
        """Whether the path leads to the open file."""
        return self._file.parting() is None

    def close(self) -> None:
        """Put everything on disk; `release` closes the file.

        Raises EnvironmentLacksError if what was written is not in the log but in the file beside it.
        """
        if self._written:
            self._look()
        (self._rescue or self._file).sync()
        if self._written:
            self._look()
        if self._rescue is not None:
            raise EnvironmentLacksError(self._farewell(self._rescue.path))

    def _farewell(self, rescued: Path) -> str:
        """Return what is told of a log that was lost, and what to do."""
        whose = "of this command" if self._keeps_copy else "that were still to be found"
        return (
            f"{self.path} {self._lost} while it was written to; the {self._number_beside} events {whose} are in"
            f" {rescued}. Put the log back if you can, and append them once before anything else is done with it:"
            f" `cat {rescued} >> {self.path}`; if it is gone, `mv {rescued} {self.path}`. The same command again does"
            " what is missing"
        )

    def release(self) -> None:
        """Close all files."""
        for opened in (self._file, self._beside, self._copy):
            if opened is not None:
                opened.close()


def _created_beside(path: Path, warn: Callable[[str], None]) -> AppendedFile:
    """Create `<log>.rescued`, or `<log>.rescued-2` if there is one already; elsewhere if the log's folder is gone."""
    refused: OSError | None = None
    for folder in (path.parent, Path(), Path(tempfile.gettempdir())):
        for number in count(1):
            name = f"{path.name}.rescued" if number == 1 else f"{path.name}.rescued-{number}"
            try:
                return AppendedFile(folder / name, warn, os.O_EXCL)
            except FileExistsError:
                continue  # somebody's, or of an earlier loss, whose events may be appended to the log by now
            except OSError as error:
                refused = error
                break
    raise EnvironmentLacksError(f"{path} is no longer there, and nothing can be written beside it: {refused}")


@contextmanager
def open_log(
    path: Path, stages: tuple[str, ...], warn: Callable[[str], None], inputs: Sequence[Path] = ()
) -> Iterator[Log]:
    """Open a log for appending, as the only writer of each of the stages (`generate`, `judge`).

    Raises UsageError when another process holds a stage, or the path is one of the `inputs` or no
    regular file, InputError when it is a file that is no log, EnvironmentLacksError when it cannot be
    opened, and at the end when the log was taken away while it was written to.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file that can be appended to; without -o events go to stdout")
    check_no_input(path, inputs)
    with ExitStack() as held:
        log = _locked(path, stages, warn, held)
        rescued = path.with_name(f"{path.name}.rescued")
        if rescued.exists():
            warn(
                f"{rescued} holds what an earlier command could not put into this log; if it is not in the log yet,"
                f" stop, append it (cat {rescued} >> {path}) and begin again; if it is, remove it"
            )
        try:
            yield log
        except BaseException as error:
            # What ended the command is what has to be told last, and what its exit code says.
            try:
                log.close()
            except KevalError as loss:
                if str(loss) != str(error):
                    warn(str(loss))
            raise
        log.close()


def _locked(path: Path, stages: tuple[str, ...], warn: Callable[[str], None], held: ExitStack) -> Log:
    """Open a log and hold its stages; opened again if its path came to lead to another file meanwhile."""
    for _ in range(REOPENINGS):
        try:
            log = Log(path, warn)
            with ExitStack() as taken:
                taken.callback(log.release)
                for stage in stages:
                    taken.enter_context(locks.held(log.descriptor, path, stage))
                if log.is_at_its_path:
                    held.push(taken.pop_all())
                    return log
        except OSError as error:
            raise EnvironmentLacksError(f"{error.filename or path}: {error.strerror}") from error
    raise EnvironmentLacksError(f"{path} is being replaced again and again; nothing was written to it")
