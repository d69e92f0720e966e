"""Measures whole runs without a model: config to finished report, with the echo agent and exact_match.

Prints one row per size, and appends it to benchmarks/results.md. What to
look at are the ratios: evaluations per second and peak memory at 10,000 tasks against 1,000.
Run with `make bench`.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import results

SIZES = (1_000, 10_000)
RUNS = 3
CONFIG = """\
name: throughput
version: "1"
dataset: {path: questions.jsonl}
agent: {type: echo, text: "yes"}
conditions:
  a: {system_prompt: "One."}
  b: {system_prompt: "Two."}
judge: {type: exact_match}
execution: {repetitions: 1, max_concurrent: 8}
"""


def measured(tasks: int) -> tuple[float, float]:
    """Return wall seconds and peak MiB of one `keval run` of so many tasks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "eval.yaml").write_text(CONFIG)
        with (folder / "questions.jsonl").open("w") as questions:
            for number in range(tasks // 2):
                sample = {"id": f"s{number}", "question": f"Is {number} a number?", "answer": "yes"}
                questions.write(json.dumps(sample) + "\n")
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "keval", "run", "eval.yaml", "-q", "-f", "json"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        log = (folder / "throughput.jsonl").read_bytes()
        done = log.count(b'\n{"type":"response"') + log.count(b'\n{"type":"judgment"')
        if process.returncode != 0 or done != 2 * tasks:
            raise SystemExit(f"the run failed: exit {process.returncode}, {done} evaluations for {tasks} tasks")
        return seconds, _mebibytes(usage)


def _mebibytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / 1024


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def main() -> None:
    """Measure the sizes in turn, several times, and print and append the medians."""
    seen: dict[int, list[tuple[float, float]]] = {size: [] for size in SIZES}
    for _ in range(RUNS):
        for size in SIZES:
            seen[size].append(measured(size))
    rows = []
    for size in SIZES:
        seconds = _median([run[0] for run in seen[size]])
        memory = _median([run[1] for run in seen[size]])
        raw = ", ".join(f"{run[0]:.2f} s {run[1]:.0f} MiB" for run in seen[size])
        rows.append((size, f"{seconds:.2f}", f"{size / seconds:.0f}", f"{memory:.0f}", raw))
    small, large = (_median([run[1] for run in seen[size]]) for size in SIZES)
    header = ("tasks", "seconds (median)", "evaluations/s", "peak MiB", "raw")
    note = f"Peak memory at {SIZES[1]:,} tasks is {large / small:.2f} times that at {SIZES[0]:,}."
    results.append("throughput", f"{RUNS} runs", header, rows, note)


if __name__ == "__main__":
    main()
