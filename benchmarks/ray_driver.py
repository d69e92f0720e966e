"""Measures what one command records a second when workers of a Ray cluster give the answers, beside one process.

The agent repeats the question, so what is left is the work of the executors and of the one writer. Ray runs apart from
the command: the command's CPU time is its own, and says how many answers a second it can take from any number of nodes.
Here the workers share the machine with it, so that the rate is less than that.

    python -m benchmarks.ray_driver [--size tiny|modest|large]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where

TASKS = {Size.TINY: (40,), Size.MODEST: (2_000, 20_000), Size.LARGE: (10_000, 1_000_000)}
AT_ONCE = 64
WORKERS = 2

RAY, HERE = "workers on Ray", "one process"

PORT = 26379
RAY_HEAD = (
    "start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={PORT}", f"--num-cpus={WORKERS}",
    "--include-dashboard=false", "--disable-usage-stats",
)  # fmt: skip
STARTED = "Ray runtime started"
NO_TOKEN = {"RAY_AUTH_MODE": "disabled"}
"""It listens on this machine alone."""


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure the sizes in turn, each in one process and on a cluster."""
    with _ray() as address:
        for _ in range(repeat):
            for tasks in TASKS[size]:
                yield {"what": HERE, "tasks": tasks, **_once(tasks)}
                yield {"what": RAY, "tasks": tasks, **_once(tasks, "--executor", "ray", "--address", address)}


@contextmanager
def _ray() -> Iterator[str]:
    """Run Ray on this machine, with its folder in a temporary one; yield its address."""
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        command = [str(Path(sys.executable).with_name("ray")), *RAY_HEAD, f"--temp-dir={folder}"]
        process = subprocess.Popen(
            command, env=os.environ | NO_TOKEN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said = []
        try:
            for line in process.stdout or ():
                said.append(line)
                if STARTED in line:
                    break
            else:
                raise RuntimeError(f"Ray did not start: {''.join(said)}")
            yield f"127.0.0.1:{PORT}"
        finally:
            started = psutil.Process(process.pid).children(recursive=True)
            process.terminate()
            process.communicate()
            psutil.wait_procs(started, timeout=10)


def _once(tasks: int, *options: str) -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        workload.write(folder, tasks, at_once=AT_ONCE)
        usage = child.run((*child.KEVAL, *workload.GENERATE, *options), folder).record()
        problem = workload.missing(folder / "log.jsonl", responses=tasks, judgments=0)
    return usage | ({"failed": problem} if problem else {})


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians by size, and what further answers take of the command."""
    rows = []
    for tasks in values(measurements, "tasks"):
        for what in values(measurements, "what"):
            found = where(measurements, what=what, tasks=tasks)
            wall_s, cpu_s, peak = (middle(found, field) for field in ("wall_s", "cpu_s", "peak_mib"))
            number = float(str(tasks))
            rows.append((
                f"{tasks:,}", what, told(wall_s), told(None if not wall_s else number / wall_s, 0),
                told(None if cpu_s is None else 1e6 * cpu_s / number, 0), told(peak, 0),
            ))  # fmt: skip
    header = ("answers", "by", "seconds", "answers/s", "the command's CPU µs per answer", "its peak MiB")
    return f"{table(header, rows)}\n\nMedians. {WORKERS} workers, {AT_ONCE} answers in flight."


BENCHMARK = Benchmark(name="ray_driver", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
