"""Measures how time and memory grow with the log: each command at 1,000 to 1,000,000 events.

A log is made by `generate` and `judge` themselves; its copy, all but the last lines, is then read as users do:
for the first time, again, and after lines were added. What to look at is the slope: 1.0 is linear.

    python -m benchmarks.growth [--size tiny|modest|large]
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where

EVENTS = {
    Size.TINY: (40,),
    Size.MODEST: (1_000, 10_000, 100_000),
    Size.LARGE: (1_000, 10_000, 100_000, 1_000_000),
}
"""Responses and judgments in the log, half of each."""

REPETITIONS = 5

ADDED = 1_000
"""Lines that come after the first reading, at most a tenth of the log."""

LONGEST_LINE = 2_000
"""More bytes than a line of these logs has."""

READ = ("aggregate", "growing.jsonl")
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("validate", ("validate", "growing.jsonl")),
    ("aggregate, first", READ),
    ("aggregate, again", READ),
    ("aggregate, after 1,000 more lines", READ),
    ("report", ("report", "growing.jsonl")),
    ("sql, one average", ("sql", "growing.jsonl", "SELECT condition, avg(score) FROM scores GROUP BY ALL")),
    ("generate, nothing to do", ("generate", "eval.yaml", "-o", "growing.jsonl", "-q")),
    ("judge, nothing to do", ("judge", "growing.jsonl", "-q")),
)
"""What is done with the log once it is there, in this order."""


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure every command at every size of the log."""
    for _ in range(repeat):
        for events in EVENTS[size]:
            with tempfile.TemporaryDirectory() as name:
                for what, usage in _once(Path(name) / "work", events):
                    yield {"what": what, "events": events, **usage}


def _once(folder: Path, events: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Make a log of so many events and go through all commands."""
    tasks = events // 2
    workload.write(folder, tasks, repetitions=REPETITIONS)
    log, growing = folder / "log.jsonl", folder / "growing.jsonl"
    for what, begin in (("generate", workload.GENERATE), ("judge", workload.JUDGE)):
        usage = child.run((*child.KEVAL, *begin), folder).record()
        judgments = tasks if what == "judge" else 0
        problem = workload.missing(log, responses=tasks, judgments=judgments)
        yield what, usage | ({"failed": problem} if problem else {})
    added = _split(log, growing, min(ADDED, events // 10))
    for what, command in STEPS:
        if what.startswith("aggregate, after"):
            with growing.open("ab") as more:
                more.write(added)
        before = growing.stat().st_size
        usage = child.run((*child.KEVAL, *command), folder).record()
        wrong = what.endswith("nothing to do") and growing.stat().st_size != before
        yield what, usage | ({"failed": "it did something"} if wrong else {})


def _split(log: Path, growing: Path, last: int) -> bytes:
    """Move a log without its last lines to another file, and return those lines."""
    log.rename(growing)
    with growing.open("r+b") as lines:
        end = lines.seek(0, os.SEEK_END)
        begins = max(0, end - last * LONGEST_LINE)
        lines.seek(begins)
        added = b"".join(lines.read().splitlines(keepends=True)[-last:])
        lines.truncate(end - len(added))
    return added


def slope(measurements: Sequence[Measurement], what: str, field: str) -> float | None:
    """Return the exponent with which a figure grew from the last size but one to the last: 1.0 is linear."""
    events = sizes(measurements)[-2:]
    figures = [middle(where(measurements, what=what, events=each), field) for each in events]
    if len(events) == 1 or not all(figures):
        return None
    small, large = (math.log(figure) for figure in figures if figure)
    return (large - small) / math.log(events[1] / events[0])


def sizes(measurements: Sequence[Measurement]) -> list[int]:
    """Return the sizes of the logs that were measured."""
    return [int(str(events)) for events in values(measurements, "events")]


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians of time and memory by command and size."""
    header = ("", *(f"{events:,} events" for events in sizes(measurements)), "slope")
    parts = []
    for title, field, digits in (("Wall seconds", "wall_s", 2), ("CPU seconds", "cpu_s", 2), ("MiB", "peak_mib", 0)):
        rows = []
        for what in values(measurements, "what"):
            found = [middle(where(measurements, what=what, events=each), field) for each in sizes(measurements)]
            cells = [told(value, digits) for value in found]
            rows.append((what, *cells, told(slope(measurements, str(what), field))))
        parts.append(f"{title} (medians):\n\n{table(header, rows)}")
    return "\n\n".join(parts)


BENCHMARK = Benchmark(name="growth", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
