"""Measures reports of logs with long lines: peak memory and seconds of `keval report`, `aggregate` and `sql`.

Each log holds answers whose tools returned long texts. A command runs as it is and once more with 2 GB of address
space, as after `ulimit -v 2097152`. What to look at is peak memory against the longest line, not against the log.

    python -m benchmarks.memory [--size tiny|modest|large]
    python -m benchmarks.memory write NAME FILE             writes one of the logs
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from benchmarks import child
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import NONE, middle, table, told, values, where

ADDRESS_SPACE = 2 * 2**30
"""Bytes: what `ulimit -v 2097152` allows."""

LOGS = {
    "4 lines of 50 kB": [50_000] * 4,
    "840 lines of 50 kB": [50_000] * 840,
    "100 lines of 1 to 10 MB": [(1 + number % 10) * 1_000_000 for number in range(100)],
    "300 lines of 1 to 10 MB": [(1 + number % 10) * 1_000_000 for number in range(300)],
    "4 lines of 30 MB": [30_000_000] * 4,
    "200,000 lines of 1 kB": [300] * 100_000,
}
NAMES = {Size.TINY: list(LOGS)[:1], Size.MODEST: list(LOGS)[1:2], Size.LARGE: list(LOGS)[1:]}
COMMANDS = {
    "report": ("report", "log.jsonl"),
    "aggregate": ("aggregate", "log.jsonl"),
    "sql: means": ("sql", "log.jsonl", "SELECT condition, mean FROM condition_scores"),
    "sql: texts": ("sql", "log.jsonl", "-f", "jsonl", "SELECT text FROM responses"),
}


def events(sizes: list[int]) -> Iterator[dict[str, object]]:
    """Yield a run, and responses whose tool returned so many bytes, with a judgment each."""
    from tests.builders import judgment_event, response_event, run_event  # brings DuckDB, which only this needs

    words = ("Nothing that was looked for is said here.\n" * (max(sizes) // 40))[: max(sizes)]
    yield run_event(samples=len(sizes) // 2)
    for number, size in enumerate(sizes):
        sample_id, condition = f"q{number // 2}", ("baseline", "with_docs")[number % 2]
        call = {"type": "tool_call", "id": "1", "name": "mcp__docs__search", "server": "docs", "input": {"q": "why"},
                "result": words[:size], "error": False, "duration_ms": 5}  # fmt: skip
        response = response_event(sample_id, condition, turns=[call, {"type": "text", "text": "Because."}])
        response["sample"]["answer"] = "It is because the answer is long enough to be looked for."
        yield response
        yield judgment_event(response, 1 + number % 5)


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure every command on every log, without and with the limit."""
    for name in NAMES[size]:
        with tempfile.TemporaryDirectory() as folder_name:
            folder = Path(folder_name)
            log = folder / "log.jsonl"
            write = (sys.executable, "-m", "benchmarks.memory", "write", name, str(log))
            subprocess.run(write, cwd=child.ROOT, check=True)
            megabytes = log.stat().st_size // 1_000_000
            for _ in range(repeat):
                for what, command in COMMANDS.items():
                    for limit in (None, ADDRESS_SPACE):
                        usage = child.run((*child.KEVAL, *command), folder, address_space=limit).record()
                        yield {"log": name, "megabytes": megabytes, "what": what, "address_space": limit, **usage}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians by log and command."""
    rows = []
    for name in values(measurements, "log"):
        for what in values(measurements, "what"):
            found = where(measurements, log=name, what=what)
            cells = [_cell(where(found, address_space=limit)) for limit in (None, ADDRESS_SPACE)]
            rows.append((name, f"{found[0]['megabytes']:,}", what, *cells))
    return table(("log", "MB", "command", "as it is", "in 2 GB of address space"), rows)


def _cell(found: Sequence[Measurement]) -> str:
    seconds, peak = middle(found, "wall_s"), middle(found, "peak_mib")
    if seconds is None:
        return str(found[0]["failed"]) if found else NONE
    return f"{told(seconds, 1)} s, {told(peak, 0)} MiB"


def write_log(name: str, path: Path) -> None:
    """Write one of the logs."""
    with path.open("wb") as target:
        target.writelines(orjson.dumps(event) + b"\n" for event in events(LOGS[name]))


BENCHMARK = Benchmark(name="memory", measure=measure, tables=tables)

if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write_log(sys.argv[2], Path(sys.argv[3]))
    else:
        BENCHMARK.main()
