"""Measures whole runs without a model: config to finished report, with the echo agent and exact_match.

Beside each size stands the least that a program does which only asks, judges and writes both down safely. What
to look at are evaluations per second as a share of its, and how little memory grows with the tasks.

    python -m benchmarks.throughput [--size tiny|modest|large]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where

TASKS = {Size.TINY: (20,), Size.MODEST: (1_000, 10_000), Size.LARGE: (1_000, 10_000, 100_000)}
AT_ONCE = 16

RUN, APART, POOL = "keval run", "keval run, without its report", "bare asyncio pool"


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure the sizes in turn, each with keval, without the report, and with the bare pool."""
    for _ in range(repeat):
        for tasks in TASKS[size]:
            for what in (RUN, APART, POOL):
                yield {"what": what, "tasks": tasks, **_once(what, tasks)}


def _once(what: str, tasks: int) -> Measurement:
    """Do so many tasks; those of the pool are validated and written by itself, with nothing around them."""
    commands = {
        RUN: (*child.KEVAL, *workload.RUN),
        APART: (sys.executable, "-m", "benchmarks.evaluations", "eval.yaml", "log.jsonl"),
        POOL: (sys.executable, "-m", "benchmarks.bare_pool", str(tasks), str(AT_ONCE), "log.jsonl", "0"),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        workload.write(folder, tasks, at_once=AT_ONCE)
        usage = child.run(commands[what], folder, environ={"PYTHONPATH": str(child.ROOT)}).record()
        problem = workload.missing(folder / "log.jsonl", responses=tasks, judgments=tasks)
    return usage | ({"failed": problem} if problem else {})


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians by size."""
    rows = []
    for tasks in values(measurements, "tasks"):
        for what in values(measurements, "what"):
            found = where(measurements, what=what, tasks=tasks)
            wall_s, cpu_s, peak = (middle(found, field) for field in ("wall_s", "cpu_s", "peak_mib"))
            rate = None if not wall_s else float(str(tasks)) / wall_s
            each_us = None if cpu_s is None else 1e6 * cpu_s / float(str(tasks))
            rows.append((f"{tasks:,}", what, told(wall_s), told(rate, 0), told(each_us, 0), told(peak, 0)))
    header = ("tasks", "", "seconds", "evaluations/s", "CPU µs per evaluation", "peak MiB")
    return f"{table(header, rows)}\n\nMedians. {_memory(measurements)}".rstrip()


def _memory(measurements: Sequence[Measurement]) -> str:
    """Return what is said of the growth of memory; nothing where it was not measured."""
    sizes = values(measurements, "tasks")
    small, large = (middle(where(measurements, what=APART, tasks=tasks), "peak_mib") for tasks in (sizes[0], sizes[-1]))
    if small is None or large is None:
        return ""
    return (
        f"Without the report, keval's peak memory at {sizes[-1]:,} tasks is {large - small:.0f} MiB above that at "
        f"{sizes[0]:,}."
    )


BENCHMARK = Benchmark(name="throughput", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
