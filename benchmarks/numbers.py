"""What all numbers of `keval aggregate` take beside the plain means: CPU time of both over the same log.

    python -m benchmarks.numbers [--size tiny|modest|large] [--repeat N] [--into FOLDER]

The plain means are those that `keval sql` computes from the view `scores`. Each reads a copy of the log beside which
there is nothing yet, and then the same log again, of which an index is there.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import child
from benchmarks.aggregation import AGGREGATE, SQL, write_log
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where

JUDGMENTS = {Size.TINY: 200, Size.MODEST: 100_000, Size.LARGE: 1_000_000}
"""And as many responses."""

COMMANDS = {"means": SQL, "all numbers": AGGREGATE}


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Let both read a log that they do not know, and then again; at the large size once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_log(folder / "log.jsonl", JUDGMENTS[size])
        for _ in range(1 if size == Size.LARGE else repeat):
            for what, command in COMMANDS.items():
                with tempfile.TemporaryDirectory(dir=folder) as copied:
                    copy = Path(copied)
                    shutil.copyfile(folder / "log.jsonl", copy / "log.jsonl")
                    for reading in ("first", "again"):
                        usage = child.run(command, copy)
                        yield {"what": what, "reading": reading, "judgments": JUDGMENTS[size], **usage.record()}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the CPU time of both, and how many times that of the means all numbers take."""
    rows = []
    for reading in values(measurements, "reading"):
        found = where(measurements, reading=reading)
        means, numbers = (middle(where(found, what=what), "cpu_s") for what in COMMANDS)
        times = numbers / means if means and numbers else None
        rows.append((reading, f"{found[0]['judgments']:,}", told(means), told(numbers), told(times)))
    header = ("reading", "judgments", "means, CPU seconds", "all numbers, CPU seconds", "times the means")
    return table(header, rows)


BENCHMARK = Benchmark(name="numbers", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
