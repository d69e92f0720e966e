"""Measures how close a run comes to the ideal when every answer takes 200 ms and many are asked for at once.

The ideal is what the answers alone take: tasks × 200 ms / concurrency. What to look at is the ratio of the whole
process, from its start to its end, to the ideal, and to the bare pool, which makes, checks and saves the same responses
and judgments with nothing around them.

    python -m benchmarks.latency [--size tiny|modest|large]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where

ANSWER_S = 0.2
LOADS = {
    Size.TINY: ((20, 10),),
    Size.MODEST: ((2_000, 100), (20_000, 1_000)),
    Size.LARGE: ((2_000, 100), (20_000, 1_000)),
}
"""How many tasks, and how many at once."""

GENERATE, RUN, POOL = "keval generate", "keval run", "bare asyncio pool"


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure both commands and the bare pool under each load."""
    for _ in range(repeat):
        for tasks, at_once in LOADS[size]:
            for what in (GENERATE, RUN, POOL):
                load = {"what": what, "tasks": tasks, "at_once": at_once, "ideal_s": tasks * ANSWER_S / at_once}
                yield {**load, **_once(what, tasks, at_once)}


def _once(what: str, tasks: int, at_once: int) -> Measurement:
    pool = (sys.executable, "-m", "benchmarks.bare_pool", str(tasks), str(at_once), "log.jsonl", str(ANSWER_S))
    commands = {GENERATE: (*child.KEVAL, *workload.GENERATE), RUN: (*child.KEVAL, *workload.RUN), POOL: pool}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        workload.write(folder, tasks, at_once=at_once, delay_s=ANSWER_S)
        usage = child.run(commands[what], folder, environ={"PYTHONPATH": str(child.ROOT)}).record()
        judgments = 0 if what == GENERATE else tasks
        problem = workload.missing(folder / "log.jsonl", responses=tasks, judgments=judgments)
    return usage | ({"failed": problem} if problem else {})


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians by load and command, beside the ideal and the bare pool."""
    rows = []
    for tasks in values(measurements, "tasks"):
        for what in values(measurements, "what"):
            found = where(measurements, tasks=tasks, what=what)
            ideal_s, wall_s = found[0]["ideal_s"], middle(found, "wall_s")
            ratio = None if wall_s is None else wall_s / ideal_s
            load = f"{tasks:,} × {1000 * ANSWER_S:.0f} ms, {found[0]['at_once']:,} at once"
            pool_s = middle(where(measurements, tasks=tasks, what=POOL), "wall_s")
            beside = None if wall_s is None or pool_s is None else wall_s / pool_s
            cells = (told(ideal_s), told(wall_s), told(ratio), told(beside), told(middle(found, "cpu_s")))
            rows.append((load, what, *cells, told(middle(found, "peak_mib"), 0)))
    header = ("load", "", "ideal seconds", "seconds", "of the ideal", "of the pool", "CPU seconds", "peak MiB")
    return f"{table(header, rows)}\n\nMedians of whole processes."


BENCHMARK = Benchmark(name="latency", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
