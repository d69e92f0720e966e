"""Measures what keval adds to the real CLI of the `claude` agent: beside the SDK alone, and among many processes.

Every reply of the model takes two seconds; the mock that gives them is another process. Each answer starts a CLI, which
is most of the work. What to look at is what keval takes beyond a pool of workers that does nothing but ask the SDK, and
whether it takes more where other programs have many processes: keval ends what an answer left running, and has to
find it.

    python -m benchmarks.claude [--size tiny|modest|large]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where
from keval.mock import Mock

REPLY_S = 2.0
LOADS = {Size.TINY: ((2, 2),), Size.MODEST: ((24, 4),), Size.LARGE: ((24, 4), (96, 16))}
"""How many answers, and how many at once."""

IDLE = {Size.TINY: 3, Size.MODEST: 1000, Size.LARGE: 1000}
"""How many processes of other programs there are in the third kind of run."""

KEVAL, AMONG, SDK = "keval generate", "keval generate, among other processes", "the SDK alone"


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure keval, keval among other processes and the SDK alone under each load."""
    for _ in range(repeat):
        for tasks, at_once in LOADS[size]:
            for what in (SDK, KEVAL, AMONG):
                idle = IDLE[size] if what == AMONG else 0
                load = {"what": what, "tasks": tasks, "at_once": at_once, "idle": idle}
                yield {**load, **_once(what, tasks, at_once, idle)}


def _once(what: str, tasks: int, at_once: int, idle: int) -> Measurement:
    sdk = (sys.executable, "-m", "benchmarks.bare_sdk", str(tasks), str(at_once))
    command = sdk if what == SDK else (*child.KEVAL, *workload.GENERATE)
    with (
        tempfile.TemporaryDirectory() as name,
        Mock(latency_ms=1000 * REPLY_S, keep=0) as mock,
        _idle_processes(idle),
    ):
        folder = Path(name)
        workload.write_questions(folder / "questions.jsonl", tasks)
        (folder / "eval.yaml").write_text(json.dumps(_config(at_once)))
        usage = child.run(command, folder, environ={**mock.env, "PYTHONPATH": str(child.ROOT)}).record()
        problem = None if what == SDK else workload.missing(folder / "log.jsonl", responses=tasks, judgments=0)
    return usage | ({"failed": problem} if problem else {})


@contextmanager
def _idle_processes(number: int) -> Iterator[None]:
    """Keep so many processes that do nothing, as those of other programs."""
    idle = [subprocess.Popen(["sleep", "3600"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in idle:
            process.kill()
        for process in idle:
            process.wait()


def _config(at_once: int) -> dict[str, object]:
    return {
        "name": "claude",
        "dataset": {"path": "questions.jsonl"},
        "agent": {"type": "claude", "model": "claude-sonnet-5"},
        "conditions": {"only": {"system_prompt": "Answer."}},
        "judge": {"type": "exact_match"},
        "execution": {"repetitions": 1, "max_concurrent": at_once},
    }


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians by load, beside those of the SDK alone."""
    rows = []
    for tasks in values(measurements, "tasks"):
        alone = where(measurements, tasks=tasks, what=SDK)
        for what in values(measurements, "what"):
            found = where(measurements, tasks=tasks, what=what)
            cells = [f"{tasks:,} answers, {found[0]['at_once']:,} at once", what, f"{found[0]['idle']:,}"]
            for field in ("wall_s", "cpu_s"):
                own, other = middle(found, field), middle(alone, field)
                cells += [told(own), told(None if own is None or other is None else own / other)]
            rows.append(cells)
    header = ("load", "", "idle processes", "seconds", "of the SDK's", "CPU seconds", "of the SDK's")
    return f"{table(header, rows)}\n\nMedians. CPU seconds are those of the CLIs, too."


BENCHMARK = Benchmark(name="claude", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
