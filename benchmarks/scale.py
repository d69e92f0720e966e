"""Measures the slopes with which keval grows: what each further evaluation costs in time, bytes and memory.

An evaluation is an answer and its judgment, two lines of the log. A slope is the difference between two sizes, so that
what every command takes once is not in it. docs/scale.md carries the slopes to a billion judgments.

    python -m benchmarks.scale [--size tiny|modest|large]
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, where

EVALUATIONS = {Size.TINY: (20, 40), Size.MODEST: (10_000, 60_000), Size.LARGE: (100_000, 500_000)}
"""The two sizes."""

REPETITIONS = 5
AT_ONCE = 16

WRITE = "generate and judge, on disk"
FIRST = "aggregate, first: check and index"
COMMANDS: dict[str, tuple[str, ...]] = {
    FIRST: ("aggregate", "log.jsonl"),
    "aggregate, again": ("aggregate", "log.jsonl"),
    "sql, one average": ("sql", "log.jsonl", "SELECT condition, avg(score) FROM scores GROUP BY ALL"),
    "generate, nothing to do": ("generate", "eval.yaml", "-o", "log.jsonl", "-q"),
    "judge, nothing to do": ("judge", "log.jsonl", "-q"),
}

LOG, INDEX = "log", "its index"

BILLION = 10**9
HOUR_S, MIB, TIB = 3600.0, 2**20, 2**40


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure everything at both sizes."""
    for _ in range(repeat):
        for evaluations in EVALUATIONS[size]:
            with tempfile.TemporaryDirectory() as name:
                for measurement in _once(Path(name) / "work", evaluations):
                    yield {"evaluations": evaluations, **measurement}


def _once(folder: Path, evaluations: int) -> Iterator[Measurement]:
    workload.write(folder, evaluations, repetitions=REPETITIONS, at_once=AT_ONCE)
    log = folder / "log.jsonl"
    usage = child.run((*child.KEVAL, *workload.GENERATE), folder).record()
    judging = child.run((*child.KEVAL, *workload.JUDGE), folder).record()
    problem = workload.missing(log, responses=evaluations, judgments=evaluations)
    both = {field: float(str(usage[field])) + float(str(judging[field])) for field in ("wall_s", "cpu_s")}
    peak = {"peak_mib": judging["peak_mib"]} if "peak_mib" in judging else {}
    yield {"what": WRITE, **both, **peak, **({"failed": problem} if problem else {})}
    log.with_name("log.jsonl.index").unlink(missing_ok=True)
    for what, command in COMMANDS.items():
        yield {"what": what, **child.run((*child.KEVAL, *command), folder).record()}
    yield {"what": LOG, "bytes": log.stat().st_size}
    index = log.with_name("log.jsonl.index")
    if index.exists():
        yield {"what": INDEX, "bytes": index.stat().st_size}


def slope(measurements: Sequence[Measurement], what: str, field: str) -> float | None:
    """Return what one more evaluation adds to a figure; None if one of the sizes was not measured."""
    small, large = sorted({int(each["evaluations"]) for each in measurements})
    figures = [middle(where(measurements, what=what, evaluations=each), field) for each in (small, large)]
    if figures[0] is None or figures[1] is None:
        return None
    return max(figures[1] - figures[0], 0.0) / (large - small)


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the slopes, and what a billion judgments would take by them."""
    rows = []
    for what in (WRITE, *COMMANDS):
        wall_s, cpu_s, peak_mib = (slope(measurements, what, field) for field in ("wall_s", "cpu_s", "peak_mib"))
        rows.append((
            what,
            told(None if wall_s is None else 1e6 * wall_s, 1),
            told(None if cpu_s is None else 1e6 * cpu_s, 1),
            told(None if not wall_s else 1 / wall_s, 0),
            told(None if peak_mib is None else 1e6 * peak_mib, 0),
            told(None if wall_s is None else BILLION * wall_s / HOUR_S, 1),
            told(None if peak_mib is None else BILLION * peak_mib * MIB / TIB, 2),
        ))  # fmt: skip
    times = table(
        (
            "",
            "µs per evaluation",
            "CPU µs",
            "evaluations a second",
            "MiB of memory per million",
            "hours for 10⁹",
            "TiB of memory for 10⁹",
        ),
        rows,
    )
    sizes = [(what, slope(measurements, what, "bytes")) for what in (LOG, INDEX)]
    on_disk = table(
        ("on disk", "bytes per evaluation", "TiB for 10⁹"),
        [(what, told(each, 0), told(None if each is None else BILLION * each / TIB, 2)) for what, each in sizes],
    )
    small, large = sorted({int(each["evaluations"]) for each in measurements})
    return f"{times}\n\nSlopes between {small:,} and {large:,} evaluations.\n\n{on_disk}"


BENCHMARK = Benchmark(name="scale", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
