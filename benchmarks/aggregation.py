"""Compares `keval aggregate` and `keval sql` with raw tools: the mean score of each condition over the same log.

DuckDB, polars, pandas and jq read the lines and compute the mean, and nothing else; all have to get what keval gets.

    python -m benchmarks.aggregation [--size tiny|modest|large]
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import child
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.installed import NotInstalledError, PythonPackage, installed_program
from benchmarks.tables import NONE, middle, table, told, values, where

JUDGMENTS = {Size.TINY: (200,), Size.MODEST: (10_000, 100_000), Size.LARGE: (100_000, 1_000_000)}
"""And as many responses."""

ADDED = 500
"""Responses, and as many judgments, that come after keval has read the log."""

OTHERS = Path(__file__).parent / "others"
POLARS, PANDAS = PythonPackage("polars"), PythonPackage("pandas")

AGGREGATE = (*child.KEVAL, "aggregate", "log.jsonl")
PIPE = ("bash", "-o", "pipefail", "-c", 'cat log.jsonl | "$0" -m keval aggregate | tail -n 100', sys.executable)
"""`aggregate` passes on what comes in, which only `tail` wants here; it prints fewer than 100 lines itself."""
SQL = (*child.KEVAL, "sql", "-f", "jsonl", "log.jsonl",
       "SELECT condition, metric, avg(score) AS mean FROM scores GROUP BY ALL")  # fmt: skip

MEANS_ONLY = "means only"
NOTE = """\
Medians. Means only: no line is validated, repeated, retracted and unplanned judgments count, failures do not, and there
are no intervals and no comparison. In a pipe: `cat` before keval and `tail` behind it, on the same cores; keval passes
all lines on, and makes no index."""

AGAIN = "keval aggregate, again"

Means = dict[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program that prints a mean for each condition and metric of log.jsonl, as lines of JSON."""

    name: str
    lacks: str
    command: Callable[[], Sequence[str | Path]]
    """Raises NotInstalledError."""
    version: Callable[[], str]
    needs_installation: bool = True


def _version_of_jq() -> str:
    return subprocess.run(["jq", "--version"], capture_output=True, text=True, check=True).stdout.strip()


TOOLS = (
    Tool(
        name="DuckDB",
        lacks=MEANS_ONLY,
        command=lambda: (sys.executable, OTHERS / "duckdb_means.py"),
        version=lambda: version("duckdb"),
        needs_installation=False,
    ),
    Tool(
        name="polars",
        lacks="means only; the metric has to be named",
        command=lambda: (POLARS.program(), OTHERS / "polars_means.py"),
        version=POLARS.version,
    ),
    Tool(
        name="pandas",
        lacks=MEANS_ONLY,
        command=lambda: (PANDAS.program(), OTHERS / "pandas_means.py"),
        version=PANDAS.version,
    ),
    Tool(
        name="jq",
        lacks=MEANS_ONLY,
        command=lambda: (installed_program("jq"), "-n", "-c", "-f", OTHERS / "means.jq", "log.jsonl"),
        version=_version_of_jq,
    ),
)


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Let the tools take turns on one log; at the tiny size only those that need no installation."""
    tools = [tool for tool in TOOLS if size != Size.TINY or not tool.needs_installation]
    for judgments in JUDGMENTS[size]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_log(folder / "log.jsonl", judgments)
            write_log(folder / "more.jsonl", ADDED, first_sample=judgments)
            for _ in range(repeat):
                yield from ({**measured, "judgments": judgments} for measured in _all_in_turn(tools, folder))


def write_log(path: Path, judgments: int, first_sample: int = 0) -> None:
    """Write a log of so many responses, and as many judgments."""
    command = (sys.executable, "-m", "benchmarks.synthetic_log", str(judgments), str(path), str(first_sample))
    subprocess.run(command, cwd=child.ROOT, check=True)


def _all_in_turn(tools: Sequence[Tool], folder: Path) -> Iterator[Measurement]:
    """Let keval and then each tool read the log."""
    expected: Means = {}
    for what, measured, means in _keval(folder):
        expected = expected or means
        yield {"tool": what, "version": version("keval"), "lacks": "", **measured}
    for tool in tools:
        yield {"tool": tool.name, "lacks": tool.lacks, **_raw(tool, folder, expected)}


def _keval(folder: Path) -> Iterator[tuple[str, Measurement, Means]]:
    """Let keval read a copy of the log, beside which there is nothing yet, and then what has grown."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        copy = Path(name)
        shutil.copyfile(folder / "log.jsonl", copy / "log.jsonl")
        yield "keval aggregate, in a pipe", *_measured(PIPE, copy)
        for what, command in (("aggregate, first", AGGREGATE), ("aggregate, again", AGGREGATE), ("sql, again", SQL)):
            yield f"keval {what}", *_measured(command, copy)
        with (copy / "log.jsonl").open("ab") as log, (folder / "more.jsonl").open("rb") as more:
            shutil.copyfileobj(more, log)
        yield f"keval aggregate, after {2 * ADDED:,} more lines", *_measured(AGGREGATE, copy)


def _raw(tool: Tool, folder: Path, expected: Means) -> Measurement:
    """Let another tool read the log, and compare its means with those of keval."""
    try:
        command, number = tool.command(), tool.version()
    except NotInstalledError as error:
        return {"skipped": str(error)}
    measured, means = _measured(command, folder)
    same = means.keys() == expected.keys() and all(math.isclose(means[key], expected[key]) for key in means)
    wrong = {} if same or "failed" in measured else {"failed": f"other means than keval: {list(means.values())}"}
    return {"version": number, **measured, **wrong}


def _measured(command: Sequence[str | Path], folder: Path) -> tuple[Measurement, Means]:
    said = folder / "said.txt"
    usage = child.run(command, folder, output=said)
    lines = [] if usage.failed else map(json.loads, said.read_text().splitlines())
    return usage.record(), dict(mean for line in lines for mean in _mean(line))


def _mean(line: Any) -> Iterator[tuple[tuple[str, str], float]]:  # noqa: ANN401 - any JSON
    """Yield the mean that a line says: a list of the raw tools, an object of keval; a comparison has none."""
    if isinstance(line, list):
        condition, metric, mean = line
        yield (condition, metric), mean
    elif "mean" in line:
        yield (line["condition"], line["metric"]), line["mean"]


def tables(measurements: Sequence[Measurement]) -> str:
    """Return, for each size of the log, what each tool needed for the means."""
    parts = []
    for judgments in values(measurements, "judgments"):
        of_size = where(measurements, judgments=judgments)
        reference = middle(where(of_size, tool="DuckDB"), "wall_s")
        rows = []
        for tool in values(of_size, "tool"):
            found = where(of_size, tool=tool)
            wall_s, cpu_s, peak = (middle(found, field) for field in ("wall_s", "cpu_s", "peak_mib"))
            ratio = None if wall_s is None or not reference else wall_s / reference
            reason = found[0].get("skipped") or found[0].get("failed")
            name = f"{tool} ({reason})" if reason else tool
            cells = (told(wall_s), told(ratio, 1), told(cpu_s), told(peak, 0))
            rows.append((name, found[0].get("version") or NONE, *cells, found[0]["lacks"]))
        header = ("tool", "version", "seconds", "times DuckDB", "CPU seconds", "peak MiB", "")
        title = f"{judgments:,} responses and {judgments:,} judgments:"
        parts += [title, table(header, rows), _faster(of_size)]
    return "\n\n".join([*parts, NOTE])


def _faster(measurements: Sequence[Measurement]) -> str:
    """Return which tools took less time than keval for a log that it knows already."""
    seconds = {str(tool): middle(where(measurements, tool=tool), "wall_s") for tool in values(measurements, "tool")}
    own_s = seconds[AGAIN] or math.inf
    others = {tool: each_s for tool, each_s in seconds.items() if not tool.startswith("keval")}
    faster = [tool for tool, each_s in others.items() if each_s is not None and each_s < own_s]
    return f"Faster than `{AGAIN}`: {', '.join(faster) or 'none'}."


BENCHMARK = Benchmark(name="aggregation", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
