"""Appends what a command made without agent or judge to a log: aggregates, labels, references, a retraction."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keval.errors import EnvironmentLacksError, Warn
from keval.ids import JsonObject
from keval.logs.sinks import Announced
from keval.logs.writer import Log, open_log, refuse_packed
from keval.scheduling import interrupt


def check_appendable(path: Path) -> None:
    """Raise UsageError or EnvironmentLacksError for a log that nothing can be appended to; it is left as it is."""
    refuse_packed(path)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC))
    except OSError as error:
        raise EnvironmentLacksError(f"{path}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class NamedFile:
    """Which file had a name: another one may have it by the time that something is to be appended."""

    path: Path
    device: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> NamedFile:
        """Take note of the file that has a name. Raises EnvironmentLacksError."""
        try:
            found = path.stat()
        except OSError as error:
            raise EnvironmentLacksError(f"{path}: {error.strerror}") from error
        return cls(path, found.st_dev, found.st_ino)

    def check(self) -> None:
        """Raise EnvironmentLacksError if another file has the name, or none: what is appended is about the old one."""
        try:
            same = NamedFile.of(self.path) == self
        except EnvironmentLacksError:
            same = False
        if not same:
            raise EnvironmentLacksError(
                f"{self.path} was moved, replaced or removed meanwhile, so what was said last is not in it; "
                "put it back and start again"
            )


def append_all(
    path: Path,
    stages: tuple[str, ...],
    announcement: JsonObject | None,
    events: Sequence[JsonObject],
    warn: Warn,
    *inputs: Path,
) -> None:
    """Append events to a log as the only writer of the stages.

    Before the first one, the command's `run` event is appended, unless none is given because it is there already.
    `inputs` are what the command reads: none of them is the log. Raises InterruptError when the user ends it: what was
    written by then stays.
    """
    with open_log(path, stages, warn, inputs) as log:
        interrupt.run(lambda _: _append(log, announcement, events), warn)


def append_in_thread(path: Path, announcement: JsonObject | None, events: Sequence[JsonObject], warn: Warn) -> None:
    """Append as `append_all` does, of no stage, in a thread, which the user cannot end."""
    with open_log(path, (), warn) as log:
        asyncio.run(_append(log, announcement, events))


async def _append(log: Log, announcement: JsonObject | None, events: Sequence[JsonObject]) -> None:
    sink = Announced(log, *([] if announcement is None else [announcement]))
    for event in events:
        await sink.append(event)
