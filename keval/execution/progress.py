"""Tells people on stderr how far a stage is: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO

from keval.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

PLAIN_EVERY_S = 30.0
"""How often a plain line is written where there is no terminal."""


@dataclass
class Count:
    """How far one row (a condition, or a judge) is."""

    planned: int | None = None
    done: int = 0
    failed: int = 0
    in_flight: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Items whose cost is unknown and so not in `cost_usd`."""


class Progress:
    """Counts what one stage does, by row."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.rows: dict[str, Count] = {}
        self._began = time.monotonic()

    def plan(self, row: str, number: int) -> None:
        """Say that a row has so many items more."""
        count = self._row(row)
        count.planned = (count.planned or 0) + number

    def started(self, row: str) -> None:
        """Count an attempt that begins."""
        self._row(row).in_flight += 1

    def ended(self, row: str) -> None:
        """Count an attempt that ended, well or not."""
        self._row(row).in_flight -= 1

    def finished(self, row: str, *, failed: bool, cost_usd: float | None) -> None:
        """Count an item that has its event."""
        count = self._row(row)
        count.done += not failed
        count.failed += failed
        if cost_usd is None:
            count.unpriced += 1
        else:
            count.cost_usd += cost_usd

    @property
    def failed(self) -> int:
        """How many items failed."""
        return sum(count.failed for count in self.rows.values())

    def line(self) -> str:
        """Return the state in one plain line."""
        return f"{self.stage}: " + " · ".join(
            f"{printable(row)} {_described(count)}" for row, count in self.rows.items()
        )

    def left(self, count: Count) -> str:
        """Return the time that a row still needs if it goes on at its mean speed."""
        ended = count.done + count.failed
        if not ended or count.planned is None:
            return ""
        seconds = (time.monotonic() - self._began) / ended * (count.planned - ended)
        return f"{int(seconds // 60)}:{int(seconds % 60):02d}"

    def _row(self, row: str) -> Count:
        return self.rows.setdefault(row, Count())


@contextmanager
def shown(*stages: Progress, quiet: bool = False, stream: TextIO | None = None) -> Iterator[None]:
    """Show how far the stages are until left, then the last state once."""
    stream = stream or sys.stderr
    if quiet:
        yield
    elif stream.isatty():
        with _live(stages, stream):
            yield
    else:
        with _plain_lines(stages, stream):
            yield


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
    with Live(get_renderable=lambda: _table(stages), console=console, refresh_per_second=4):
        yield


def _table(stages: Sequence[Progress]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "done", "failed", "in flight", "cost", "left", box=None, pad_edge=False)
    for stage in stages:
        for row, count in stage.rows.items():
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


def _cost(count: Count) -> str:
    unpriced = f" + {count.unpriced} of unknown cost" if count.unpriced else ""
    return f"${count.cost_usd:.4f}{unpriced}"
