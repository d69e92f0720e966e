"""What all benchmarks share: how one is called, its raw results in benchmarks/runs/, and the newest of them.

A file of raw results has one JSON object per line: first what it was measured with (`Run`), then each single
measurement as it was made. Tables are computed from such a file, on the terminal as in docs/performance.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import child, workload
from benchmarks.child import ROOT

RUNS = Path(__file__).parent / "runs"
PACKAGES = ("keval", "duckdb", "orjson", "jsonschema-rs", "msgspec")

Measurement = Mapping[str, Any]
"""One measurement: a line of a file of raw results. With `failed` it says why there is none."""


class Size(StrEnum):
    """How much is measured."""

    TINY = "tiny"
    """Shows only that the script works."""
    MODEST = "modest"
    LARGE = "large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What some measurements were made with: the first line of a file of raw results."""

    benchmark: str
    date: str
    commit: str
    uncommitted: bool
    """Whether the code differed from the commit."""
    size: Size
    repeat: int
    """How often each was asked to be measured."""
    python: str
    packages: dict[str, str]
    system: str
    cores: int


@dataclass(frozen=True, slots=True)
class Results:
    """A file of raw results."""

    path: Path
    run: Run
    measurements: list[Measurement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One question that is answered by measuring."""

    name: str
    measure: Callable[[Size, int], Iterator[Measurement]]
    """Makes the measurements of a size, each as often as the second argument says."""
    tables: Callable[[Sequence[Measurement]], str]
    """Shows measurements as Markdown."""

    def main(self, arguments: Sequence[str] | None = None) -> None:
        """Measure, keep each measurement in a dated file as it comes, and print the tables.

        `arguments` are those of the command line if None is given. The process exits with 1 when a measurement failed.
        """
        parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{self.name}")
        default = os.environ.get("BENCH_SIZE", Size.MODEST)
        parser.add_argument("--size", type=Size, choices=list(Size), default=default, help="BENCH_SIZE, else modest")
        parser.add_argument("--repeat", type=int, default=3, metavar="N", help="how often each is measured: 3")
        parser.add_argument("--into", type=Path, default=RUNS, metavar="FOLDER", help="where the raw results go")
        given = parser.parse_args(arguments)
        if given.size != Size.TINY:
            _warm_up()
        results = read(self._record(given.size, given.repeat, given.into))
        print(f"\n{described(results)}\n\n{self.tables(results.measurements)}\n")
        failed = [each for each in results.measurements if "failed" in each]
        for each in failed:
            print(f"failed: {json.dumps(each)}", file=sys.stderr)
        sys.exit(1 if failed else 0)

    def _record(self, size: Size, repeat: int, folder: Path) -> Path:
        run = _this_run(self.name, size, repeat)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{run.date[:16].replace(':', '')}-{run.commit}-{self.name}.jsonl"
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("w") as lines:
            lines.write(json.dumps(asdict(run)) + "\n")
            for measurement in self.measure(size, repeat):
                lines.write(json.dumps(measurement) + "\n")
                lines.flush()
                print(json.dumps(measurement), file=sys.stderr, flush=True)
        return unfinished.rename(path)


def _warm_up() -> None:
    """Run keval, so that the first command that is measured does not compile it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        workload.write(folder, 4)
        for words in (workload.RUN, workload.JUDGE, ("aggregate", "log.jsonl"), ("sql", "log.jsonl", "from runs")):
            child.run((*child.KEVAL, *words), folder)


def _this_run(name: str, size: Size, repeat: int) -> Run:
    changed = _git("status", "--porcelain", "--", ".", ":!benchmarks/runs", ":!docs")
    return Run(
        benchmark=name,
        date=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        commit=_git("rev-parse", "--short=7", "HEAD") or "unknown",
        uncommitted=bool(changed),
        size=size,
        repeat=repeat,
        python=platform.python_version(),
        packages={name: version(name) for name in PACKAGES},
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count() or 1,
    )


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def read(path: Path) -> Results:
    """Return a file of raw results."""
    first, *others = [json.loads(line) for line in path.read_text().splitlines()]
    return Results(path, Run(**first), others)


def newest(name: str, folder: Path = RUNS) -> Results | None:
    """Return the newest results of a benchmark that are kept, if there are any; tiny ones do not count."""
    for path in sorted(folder.glob(f"*-{name}.jsonl"), reverse=True):
        results = read(path)
        if results.run.size != Size.TINY:
            return results
    return None


def described(results: Results) -> str:
    """Return in one line how, when, where and with what measurements were made."""
    run = results.run
    packages = ", ".join(f"{name} {number}" for name, number in run.packages.items())
    commit = f"{run.commit} with changes" if run.uncommitted else run.commit
    command = f"`python -m benchmarks.{run.benchmark} --size {run.size} --repeat {run.repeat}`"
    machine = f"{run.cores} cores, {run.system}, Python {run.python}"
    return f"{command}, {run.date[:10]}, commit {commit}, {machine}, {packages}."
