"""Measures what it takes to start: commands with nothing or little to do, beside a Python that does nothing.

python -m benchmarks.startup [--size tiny|modest|large]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where

TASKS = 100
TURNS = {Size.TINY: 1, Size.MODEST: 5, Size.LARGE: 10}
"""How often each command is measured in a row of turns: starts are short, and disturbed easily."""

PYTHON = "python -c pass"
COMMANDS: dict[str, tuple[str | Path, ...]] = {
    PYTHON: (sys.executable, "-c", "pass"),
    "keval --version": ("--version",),
    "keval --help": ("--help",),
    "keval generate --help": ("generate", "--help"),
    "keval validate": ("validate", "log.jsonl"),
    "keval sql": ("sql", "log.jsonl", "SELECT count(*) FROM responses"),
    "keval aggregate": ("aggregate", "log.jsonl"),
    "keval report": ("report", "log.jsonl"),
}


def program() -> Path:
    """Return the command that an installation puts beside Python."""
    return Path(sys.executable).with_name("keval")


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure all commands in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        workload.write(folder, TASKS)
        subprocess.run([*child.KEVAL, *workload.RUN], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for _ in range(repeat * TURNS[size]):
            for what, words in COMMANDS.items():
                command = words if what == PYTHON else (program(), *words)
                yield {"what": what, **child.run(command, folder).record()}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians and the least of each command."""
    rows = []
    for what in values(measurements, "what"):
        found = where(measurements, what=what)
        least = min((1000 * each["wall_s"] for each in found if "failed" not in each), default=None)
        wall_s, cpu_s = middle(found, "wall_s"), middle(found, "cpu_s")
        milliseconds = [None if value is None else 1000 * value for value in (wall_s, cpu_s)]
        rows.append((f"`{what}`", *(told(each, 0) for each in (*milliseconds, least))))
    note = f"The log has {TASKS} responses and as many judgments. All but the least are medians."
    return f"{table(('command', 'ms', 'CPU ms', 'least ms'), rows)}\n\n{note}"


BENCHMARK = Benchmark(name="startup", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
