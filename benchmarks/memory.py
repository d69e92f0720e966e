"""Measures reports of logs with long lines: peak memory and seconds of `keval report`, `aggregate` and `sql`.

Each log holds answers whose tools returned long texts. A command runs as it is and once more with 2 GB of address
space, as after `ulimit -v 2097152`. Prints one row per log and command, and appends them to benchmarks/results.md.
What to look at is peak memory against the longest line, not against the log. Run with `make bench`;
`python -m benchmarks.memory 1` measures the first log only, or the first so many.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

from benchmarks import results
from tests.builders import judgment_event, response_event, run_event

ADDRESS_SPACE = 2 * 2**30
"""Bytes: what `ulimit -v 2097152` allows."""

LOGS = (
    ("42 MB: 840 lines of 50 kB", [50_000] * 840),
    ("100 lines of 1 to 10 MB", [(1 + number % 10) * 1_000_000 for number in range(100)]),
    ("300 lines of 1 to 10 MB", [(1 + number % 10) * 1_000_000 for number in range(300)]),
    ("4 lines of 30 MB", [30_000_000] * 4),
    ("200,000 lines of 1 kB", [300] * 100_000),
)
COMMANDS = (
    ("report", ("report", "{log}")),
    ("aggregate", ("aggregate", "{log}")),
    ("sql: means", ("sql", "{log}", "select condition, mean from condition_scores")),
    ("sql: texts", ("sql", "{log}", "-f", "jsonl", "select text from responses")),
)


def events(sizes: list[int]) -> Iterator[dict[str, object]]:
    """Yield a run, and responses whose tool returned so many bytes, with a judgment each."""
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


def measured(log: Path, arguments: tuple[str, ...], *, limited: bool) -> str:
    """Return seconds and peak MiB of one command, or how it failed."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "keval", *(argument.format(log=log) for argument in arguments)],
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            preexec_fn=_limit if limited else None,  # noqa: PLW1509 - this process has no other thread
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        complaints.seek(0)
        last = complaints.read().decode(errors="replace").strip().splitlines()[-1:]
    if process.returncode != 0:
        return f"exit {process.returncode}: {''.join(last)[:80]}"
    return f"{time.perf_counter() - began:.1f} s {usage.ru_maxrss / 1024:.0f} MiB"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def main() -> None:
    """Measure every command on every log, print the table and append it to the results."""
    rows = []
    number = int(sys.argv[1]) if len(sys.argv) > 1 else len(LOGS)
    for name, sizes in LOGS[:number]:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log.jsonl"
            with log.open("wb") as target:
                target.writelines(orjson.dumps(event) + b"\n" for event in events(sizes))
            megabytes = log.stat().st_size // 1_000_000
            for title, arguments in COMMANDS:
                free, limited = (measured(log, arguments, limited=limited) for limited in (False, True))
                rows.append((name, megabytes, title, free, limited))
                print(*rows[-1], sep=" | ", flush=True)
    header = ("log", "MB", "command", "as it is", "in 2 GB of address space")
    results.append(f"long lines, {number} of {len(LOGS)} logs", "wall seconds and peak memory, one run", header, rows)


if __name__ == "__main__":
    main()
