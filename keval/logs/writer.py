"""Appends events to a log file so that none is ever lost, torn or written twice at once.

* Lines that arrive in one turn of the event loop are written by one `write` on an append-mode
  descriptor while an advisory lock is held, so `generate` and `judge` can write to one log at the
  same time. Where not all of them fit, those that do are there whole.
* `append` returns when the line is on disk; who writes a line may go on as soon as it is in the file, where it
  survives the end of the process. An fsync begins as soon as nobody is about to write, or 5 ms after the first
  line that needs it; what is written while it runs shares the next one.
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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from io import FileIO
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, TypeVar

from keval.counted import counted
from keval.documents.packed import is_packed
from keval.errors import EnvironmentLacksError, KevalError, UsageError, Warn
from keval.events import encode
from keval.ids import JsonObject
from keval.logs import locks
from keval.logs.appended_file import AppendedFile, lines_of
from keval.logs.outputs import check_no_input, is_stream
from keval.projections.sql_file import verbatim

Made = TypeVar("Made")


class OnDisk:
    """Can be waited for until some lines are on disk; raises what keeps them from it.

    Whoever is cancelled takes nothing from the others who wait.
    """

    def __init__(self, done: asyncio.Future[None]) -> None:
        self._done = done

    def __await__(self) -> Generator[Any, None, None]:
        """Wait."""
        return asyncio.shield(self._done).__await__()


class _Arrived(NamedTuple):
    """A line that waits to be written."""

    line: bytes
    written: asyncio.Future[OnDisk]
    """Done when the line is in the file; its result is done when the line is on disk."""


QUIET_TURNS = 3
"""Turns of the event loop without a new line after which nobody is about to write: those who went on after the last
fsync have written by then, so that all of them share the next one."""

LATEST_S = 0.005
"""However much is written, an fsync begins this many seconds after the first line that needs it."""

REOPENINGS = 100
"""How often a log is opened again that is replaced in the very moment, before we give up."""


class Log:
    """An open log that events are appended to; use `open_log`."""

    def __init__(self, path: Path, warn: Warn) -> None:
        # A function of the user's that runs in this process may change the folder in which it runs.
        self.path = path.absolute()
        self._warn = warn
        self._file = AppendedFile(self.path, warn)
        self._beside: AppendedFile | None = None
        self._rescue: AppendedFile | None = None
        self._lost: str | None = None
        self._stops: list[asyncio.Event] = []
        self._copy: FileIO | None = None
        self._keeps_copy = True
        self._written = 0
        self._number_beside = 0
        self._arrived: list[_Arrived] = []
        self._until_safe: asyncio.Future[None] | None = None
        """Done when what was written since the last fsync began is on disk; None if that is nothing."""
        self._is_syncing = False
        # A thread of its own: those that all others share may be busy with something slow, such as large folders.
        self._syncing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keval-fsync")

    def tell(self, stop: asyncio.Event) -> None:
        """Let `stop` be set as soon as the log is no longer where it was: what is paid now would be hard to find."""
        self._stops.append(stop)

    async def append(self, event: JsonObject) -> None:
        """Append one event; it is on disk when this returns. Raises EnvironmentLacksError."""
        await (await self.write(encode(event)))

    def write(self, line: bytes) -> asyncio.Future[OnDisk]:
        """Append the line of one event: it is in the file when the future is done, and on disk when its result is.

        Both raise EnvironmentLacksError when the disk is full or broken; the log then ends where it
        ended before.
        """
        loop = asyncio.get_running_loop()
        written: asyncio.Future[OnDisk] = loop.create_future()
        self._arrived.append(_Arrived(line, written))
        if len(self._arrived) == 1:
            loop.call_soon(self._take)
        return written

    def _take(self) -> None:
        """Write the lines that have arrived, and let them be put on disk; each waits for its own future."""
        arrived, self._arrived = self._arrived, []
        written = 0
        try:
            for number in self._write([each.line for each in arrived]):
                self._until_safe = self._until_safe or asyncio.get_running_loop().create_future()
                _settle([each.written for each in arrived[written : written + number]], OnDisk(self._until_safe))
                written += number
        except Exception as error:  # noqa: BLE001 - whoever waits would wait for ever if a bug ended here
            _fail([each.written for each in arrived[written:]], error)
        if not self._is_syncing:
            self._gather()

    def _write(self, lines: list[bytes]) -> Iterator[int]:
        """Write lines, each of them whole; yield after each write how many it was. Raises EnvironmentLacksError."""
        while lines:
            self._look()
            number = (self._rescue or self._file).write(lines)
            self._written += number
            if self._rescue is None:
                self._keep(b"".join(lines[:number]))
            else:
                self._number_beside += number
            yield number
            lines = lines[number:]

    def _gather(self) -> None:
        """Wait for those who are about to write, then put all their lines on disk at once."""
        loop = asyncio.get_running_loop()
        latest = loop.time() + LATEST_S

        def look_again(seen: int, turns: int) -> None:
            turns = turns - 1 if self._written == seen else QUIET_TURNS
            if turns and loop.time() < latest:
                loop.call_soon(look_again, self._written, turns)
            else:
                self._sync()

        self._is_syncing = self._until_safe is not None
        if self._is_syncing:
            loop.call_soon(look_again, self._written, QUIET_TURNS)

    def _sync(self) -> None:
        """Put what is written on disk in a thread; what is written meanwhile is the next one's."""
        until_safe, self._until_safe = self._until_safe, None
        if until_safe is None:
            return
        file = self._rescue or self._file
        try:
            synced = asyncio.get_running_loop().run_in_executor(self._syncing, file.sync)
        except RuntimeError:  # there is no thread to be had, so everything else waits meanwhile
            synced = _done_now(file.sync)
        synced.add_done_callback(lambda _: self._synced(synced, until_safe))

    def _synced(self, synced: asyncio.Future[None], until_safe: asyncio.Future[None]) -> None:
        try:
            synced.result()
            # Only now is it known that what is on disk is also where people will look for it.
            self._look()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - each waiter gets it
            _fail([until_safe], error)
            until_safe.exception()  # there may be nobody who waits
        else:
            _settle([until_safe], None)
        self._gather()

    def _keep(self, lines: bytes) -> None:
        """Keep a copy of lines until the log is closed: a log that is cut short leaves none."""
        if not self._keeps_copy:
            return
        try:
            if self._copy is None:
                self._copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the log
            whole = self._copy.write(lines) == len(lines)
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
        if self.is_at_its_path:  # people are told to append what was rescued
            self._file.mend()
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
        self._syncing.shutdown()
        for _ in self._write([each.line for each in self._arrived]):
            pass  # who has waited for these lines was cancelled
        self._arrived = []
        if self._written:
            self._look()
        (self._rescue or self._file).sync()
        if self._written:
            self._look()
        if self._rescue is not None:
            raise EnvironmentLacksError(self._farewell(self._rescue.path))

    def _farewell(self, rescued: Path) -> str:
        """Return what is told of a log that was lost, and what to do."""
        events = counted(self._number_beside, "event")
        whose = "of this command" if self._keeps_copy else "that were still to be found"
        aside, log = quote(str(rescued)), quote(str(self.path))
        return (
            f"{self.path} {self._lost} while it was written to; the {events} {whose} are in"
            f" {rescued}. Put the log back if you can, and append them once before anything else is done with it:"
            f" `cat {aside} >> {log}`; if it is gone, `mv {aside} {log}`. The same command again does"
            " what is missing"
        )

    def release(self) -> None:
        """Close all files."""
        for opened in (self._file, self._beside, self._copy):
            if opened is not None:
                opened.close()


def _settle(waiting: Iterable[asyncio.Future[Made]], made: Made) -> None:
    """Let those who wait go on with what was made; who was cancelled waits no more."""
    for each in waiting:
        if not each.done():
            each.set_result(made)


def _fail(waiting: Iterable[asyncio.Future[Made]], error: BaseException) -> None:
    """Raise an error where somebody waits."""
    for each in waiting:
        if not each.done():
            each.set_exception(error)


def _done_now(function: Callable[[], None]) -> asyncio.Future[None]:
    """Run a function, and return how it ended."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    try:
        function()
    except Exception as error:  # noqa: BLE001 - whoever waits gets it
        done.set_exception(error)
    else:
        done.set_result(None)
    return done


def _created_beside(path: Path, warn: Warn) -> AppendedFile:
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


def refuse_packed(path: Path) -> None:
    """Raise UsageError for a packed log: nothing can be appended to it."""
    if is_packed(path):
        raise UsageError(f"{path} is packed, and nothing can be appended to it; unpack it first")


@contextmanager
def open_log(path: Path, stages: tuple[str, ...], warn: Warn, inputs: Sequence[Path] = ()) -> Iterator[Log]:
    """Open a log for appending, as the only writer of each of the stages (`generate`, `judge`).

    Raises UsageError when another process holds a stage, or the path is one of the `inputs` or no
    regular file, InputError when it is a file that is no log, EnvironmentLacksError when it cannot be
    opened, and at the end when the log was taken away while it was written to.
    """
    if is_stream(path) or (path.exists() and not path.is_file()):
        raise UsageError(f"{path} is not a file that can be appended to; without -o events go to stdout")
    refuse_packed(path)
    verbatim(path)  # or nobody could read what is written
    check_no_input(path, inputs)
    with ExitStack() as held:
        log = _locked(path, stages, warn, held)
        rescued = path.with_name(f"{path.name}.rescued")
        if rescued.exists():
            warn(
                f"{rescued} holds what an earlier command could not put into this log; if it is not in the log yet,"
                f" stop, append it (cat {quote(str(rescued))} >> {quote(str(path))}) and begin again; if it is,"
                " remove it"
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


def _locked(path: Path, stages: tuple[str, ...], warn: Warn, held: ExitStack) -> Log:
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
