"""Measures how close the `messages` agent comes to the ideal with 1,000 answers in flight, and what each of them takes.

Every reply of the model takes two seconds; the mock that gives them is another process. The ideal is what the replies
alone take: tasks × replies per task × 2 s / concurrency. Without tools an answer is one reply; with an MCP server it is
two replies and a call in between. All tasks share one connection to the server. While the command runs, its open
connections are counted again and again: to the model's service, to the MCP server, and the servers that it started.

    python -m benchmarks.messages [--size tiny|modest|large]
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.open_connections import most_seen
from benchmarks.tables import middle, table, told, values, where
from keval.mock import Mock
from tests.prompts import SERVERS
from tests.servers.over_http import over_http

REPLY_S = 2.0
LOADS = {
    Size.TINY: ((20, 10),),
    Size.MODEST: ((1_000, 100), (5_000, 1_000)),
    Size.LARGE: ((1_000, 100), (10_000, 1_000)),
}
"""How many tasks, and how many at once."""

REPLIES = {"no tools": 1, "stdio": 2, "http": 2}
"""How many replies of the model an answer takes, by the kind of server that the condition has."""


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure each kind of server under each load."""
    for _ in range(repeat):
        for tasks, at_once in LOADS[size]:
            for what, replies in REPLIES.items():
                load = {
                    "what": what,
                    "tasks": tasks,
                    "at_once": at_once,
                    "ideal_s": tasks * replies * REPLY_S / at_once,
                }
                yield {**load, **_once(what, tasks, at_once)}


def _once(what: str, tasks: int, at_once: int) -> Measurement:
    with (
        tempfile.TemporaryDirectory() as name,
        Mock(latency_ms=1000 * REPLY_S, keep=0) as mock,
        over_http("docs.py", Path(name)) as port,
    ):
        folder = Path(name)
        workload.write_questions(folder / "questions.jsonl", tasks)
        (folder / "eval.yaml").write_text(json.dumps(_config(what, at_once, port)))
        ports = {"to_model": urlsplit(mock.base_url).port or 0, "to_server": port}
        with most_seen(ports) as seen:
            usage = child.run((*child.KEVAL, *workload.GENERATE), folder, environ=mock.env).record()
        problem = workload.missing(folder / "log.jsonl", responses=tasks, judgments=0)
        in_flight = {"in_flight": mock.requests.most_at_once}
    return usage | in_flight | seen | ({"failed": problem} if problem else {})


def _config(what: str, at_once: int, port: int) -> Mapping[str, Any]:
    servers = {
        "stdio": {"type": "stdio", "command": "python", "args": [str(SERVERS / "docs.py")]},
        "http": {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"},
    }
    used = {what: servers[what]} if what in servers else {}
    return {
        "name": "messages",
        "dataset": {"path": "questions.jsonl"},
        "agent": {"type": "messages", "model": "claude-sonnet-5"},
        "mcp_servers": used,
        "conditions": {"only": {"system_prompt": "Answer.", "mcp_servers": list(used)}},
        "judge": {"type": "exact_match"},
        "execution": {"repetitions": 1, "max_concurrent": at_once},
    }


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians by load and kind of server, beside the ideal, and what more tasks in flight take."""
    fewest = min(int(each["at_once"]) for each in measurements)
    rows = []
    for tasks in sorted({int(each["tasks"]) for each in measurements}):
        for what in values(measurements, "what"):
            found = where(measurements, tasks=tasks, what=what)
            ideal_s, at_once = found[0]["ideal_s"], int(found[0]["at_once"])
            wall_s, cpu_s, peak = (middle(found, name) for name in ("wall_s", "cpu_s", "peak_mib"))
            least = middle(where(measurements, at_once=fewest, what=what), "peak_mib")
            more = None if at_once == fewest or peak is None or least is None else 1024 * (peak - least)
            rows.append(
                (
                    f"{tasks:,} answers, {at_once:,} at once",
                    what,
                    *(told(ideal_s), told(wall_s), told(None if wall_s is None else ideal_s / wall_s)),
                    told(None if cpu_s is None else 1000 * cpu_s / tasks),
                    told(peak, 0),
                    told(None if more is None else more / (at_once - fewest), 0),
                    *(told(middle(found, name), 0) for name in ("in_flight", "to_model", "to_server", "processes")),
                )
            )
    header = (
        "load",
        "server",
        "ideal seconds",
        "seconds",
        "efficiency",
        "CPU ms per answer",
        "peak MiB",
        "KiB per task",
        "most in flight",
        "connections to the model",
        "to the server",
        "processes",
    )
    told_as = (
        "KiB per task: what each task in flight beyond those of the smallest load adds to the peak. In flight: "
        "requests that the model's service was answering at one time. Connections and processes: the most that were "
        "seen at one time; of processes those that the command started."
    )
    return f"{table(header, rows)}\n\nMedians of whole processes. {told_as}"


BENCHMARK = Benchmark(name="messages", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
