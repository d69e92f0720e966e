"""Tells people on stderr how far a stage is: a live table on a terminal, plain lines elsewhere.

What fails is told when the first of its kind fails, so that nobody learns of a missing program after the night.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO

from keval.counted import counted
from keval.printable import printable
from keval.processes.temporary import PREFIX
from keval.readable import cut_inside
from keval.secrets.variables import Secrets

if TYPE_CHECKING:
    from rich.table import Table

PLAIN_EVERY_S = 30.0
"""How often a plain line is written where there is no terminal."""

LONGEST_CAUSE = 300
"""Characters of a failure's message that are told; the log has all."""

MOST_CAUSES = 3
"""Causes of one kind of failure that are told in a row; the log has all."""

_OF_A_TASK = re.compile(rf"{PREFIX}\w+")
"""The name of a task's folder, which differs from task to task."""


@dataclass
class FailureCount:
    """How often items of one row failed in one way."""

    cause: str
    """The first failure's message, as one printable line."""
    count: int = 0
    unlike: int = 0
    """Failures with another message than the first, whatever folder the task had."""
    told: set[str] = field(default_factory=set)
    """The messages that were told, without the names of folders."""


@dataclass
class Count:
    """How far one row (a condition, or a judge) is."""

    planned: int | None = None
    done: int = 0
    failures: dict[str, FailureCount] = field(default_factory=dict)
    """The failures by kind."""
    in_flight: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Attempts whose cost is unknown and so not in `cost_usd`."""

    @property
    def failed(self) -> int:
        """How many items failed."""
        return sum(each.count for each in list(self.failures.values()))


class Progress:
    """Counts what one stage does, by row; a thread shows it meanwhile, so what is shown is copied first."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.rows: defaultdict[str, Count] = defaultdict(Count)
        self.tell: Callable[[str], None] | None = None
        """Told of the first failure of each kind in a row, and of a few other causes, as they happen."""
        self.remarks: list[Callable[[], str]] = []
        """What else there is to tell, such as what is waited for; one that has nothing to tell is empty."""
        self._waiting = 0
        """Items that wait to be tried again."""
        self._began = time.monotonic()

    def say(self, line: str) -> None:
        """Tell something where progress is shown."""
        if self.tell is not None:
            self.tell(line)

    def plan(self, row: str, number: int) -> None:
        """Say that a row has so many items more."""
        count = self.rows[row]
        count.planned = (count.planned or 0) + number

    def started(self, row: str) -> None:
        """Count an attempt that begins."""
        self.rows[row].in_flight += 1

    def ended(self, row: str) -> None:
        """Count an attempt that ended, well or not."""
        self.rows[row].in_flight -= 1

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count an item that waits to be tried again while this is entered."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def finished(self, row: str, *, costs_usd: Iterable[float | None]) -> None:
        """Count an item that is done and has its event, with what each of its attempts cost."""
        count = self.rows[row]
        count.done += 1
        _pay(count, costs_usd)

    def failed_as(self, row: str, kind: str, message: str, *, costs_usd: Iterable[float | None]) -> None:
        """Count an item that failed and has its event, by the kind of its failure; costs as in `finished`."""
        count = self.rows[row]
        _pay(count, costs_usd)
        cause = _one_line(message)
        failures = count.failures.setdefault(kind, FailureCount(cause))
        failures.count += 1
        alike, first = (_OF_A_TASK.sub("", text) for text in (cause, failures.cause))
        failures.unlike += alike != first
        if alike in failures.told or len(failures.told) >= MOST_CAUSES:
            return
        failures.told.add(alike)
        if self.tell is not None:
            self.tell(f"{self.stage}: {printable(row)}: {kind}: {cause}")

    @property
    def remark(self) -> str:
        """What else there is to tell."""
        waiting = f"{counted(self._waiting, 'attempt')} failed, to be tried again" if self._waiting else ""
        return " · ".join(filter(None, (*(tell() for tell in self.remarks), waiting)))

    @property
    def failed(self) -> int:
        """How many items failed."""
        return sum(count.failed for count in self.rows.values())

    def failure_lines(self) -> Iterator[str]:
        """Yield a line for each row and kind of failure: how many there are, and the cause of the first."""
        for row, count in self.rows.items():
            for kind, failures in count.failures.items():
                others = f" (and {failures.unlike} for other causes)" if failures.unlike else ""
                yield f"{self.stage}: {printable(row)}: {failures.count} failed: {kind}: {failures.cause}{others}"

    def line(self) -> str:
        """Return the state in one plain line."""
        parts = [f"{printable(row)} {_described(count)}" for row, count in list(self.rows.items())]
        return f"{self.stage}: " + " · ".join(filter(None, [*parts, self.remark]))

    def left(self, count: Count) -> str:
        """Return the time that a row still needs if it goes on at its mean speed."""
        ended = count.done + count.failed
        if not ended or count.planned is None:
            return ""
        left = max(count.planned - ended, 0)  # a plan is made before, and more may come than it has
        seconds = (time.monotonic() - self._began) / ended * left
        return f"{int(seconds // 60)}:{int(seconds % 60):02d}"


def is_in_pipe() -> bool:
    """Return whether stdin or stdout is a pipe: a command at its other end may draw on the same terminal."""
    return any(map(_is_pipe, (sys.stdin, sys.stdout)))


def _is_pipe(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # it is closed, or no file
        return False


@contextmanager
def shown(*stages: Progress, quiet: bool = False, live: bool = True, stream: TextIO | None = None) -> Iterator[None]:
    """Show how far the stages are until left, then the last state once; `quiet` shows only in the end what failed.

    `live` draws a table again and again on a terminal; two commands that did so would draw over each other.
    """
    stream = stream or sys.stderr
    if quiet:
        with _failures_after(stages, stream):
            yield
    elif live and stream.isatty() and os.environ.get("TERM") != "dumb":
        with _live(stages, stream):
            yield
    else:
        with _plain_lines(stages, stream):
            yield


@contextmanager
def _failures_after(stages: Sequence[Progress], stream: TextIO) -> Iterator[None]:
    try:
        yield
    finally:
        for stage in stages:
            for line in stage.failure_lines():
                print(line, file=stream, flush=True)


def _print(stages: Sequence[Progress], stream: TextIO) -> None:
    for stage in stages:
        if stage.rows:
            print(stage.line(), file=stream, flush=True)


@contextmanager
def _plain_lines(stages: Sequence[Progress], stream: TextIO) -> Iterator[None]:
    over = Event()

    def speak() -> None:
        while not over.wait(PLAIN_EVERY_S):
            _print(stages, stream)

    thread = Thread(target=speak, daemon=True)
    thread.start()
    for stage in stages:
        stage.tell = partial(print, file=stream, flush=True)
    try:
        yield
    finally:
        over.set()
        thread.join()
        _print(stages, stream)


@contextmanager
def _live(stages: Sequence[Progress], stream: TextIO) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream)
    for stage in stages:
        # Text, not markup: a server's words cannot style the terminal. The table goes on below.
        stage.tell = partial(console.print, markup=False, highlight=False, soft_wrap=True)
    with Live(get_renderable=lambda: _table(stages), console=console, refresh_per_second=4):
        yield


def _table(stages: Sequence[Progress]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "done", "failed", "in flight", "cost", "left", box=None, pad_edge=False)
    told = [f"{stage.stage}: {remark}" for stage in stages if (remark := stage.remark)]
    table.caption = " · ".join(told) or None
    for stage in stages:
        for row, count in list(stage.rows.items()):
            total = "" if count.planned is None else f"/{count.planned}"
            done, failed, in_flight = f"{count.done}{total}", str(count.failed), str(count.in_flight)
            table.add_row(
                Text(f"{stage.stage} {printable(row)}"), done, failed, in_flight, _cost(count), stage.left(count)
            )
    return table


def _described(count: Count) -> str:
    total = "" if count.planned is None else f"/{count.planned}"
    failed = f", {count.failed} failed" if count.failed else ""
    return f"{count.done}{total} done{failed}, {_cost(count)}"


def _pay(count: Count, costs_usd: Iterable[float | None]) -> None:
    for cost_usd in costs_usd:
        if cost_usd is None:
            count.unpriced += 1
        else:
            count.cost_usd += cost_usd


def _one_line(message: str) -> str:
    """Return a message for one line of a terminal."""
    return cut_inside(printable(" ".join(Secrets.redact_all(message).split())), LONGEST_CAUSE)


def _cost(count: Count) -> str:
    if (count.done or count.failed) and not count.cost_usd and not count.unpriced:
        return "free"
    unpriced = f"{counted(count.unpriced, 'attempt')} of unknown cost" if count.unpriced else ""
    known = f"${count.cost_usd:.4f}" if count.cost_usd or not count.unpriced else ""
    return " + ".join(filter(None, (known, unpriced)))
