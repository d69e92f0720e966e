"""Compares keval with other evaluation tools, on the same work in the same run.

Every tool gets the same questions, an agent that repeats the question, a judge that compares the answer with the golden
one, and the same concurrency: what is measured is the tool. Whole processes, from the start to the finished
report. How many evaluations were done, and how many passed, is read from what each tool says, and has to be right.
What cannot be installed is skipped, with the reason.

    python -m benchmarks.frameworks [--size tiny|modest|large]
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks import child, workload
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.installed import NotInstalledError, NpmPackage, Package, PythonPackage
from benchmarks.tables import NONE, middle, table, told, values, where

EVALUATIONS = {Size.TINY: (30,), Size.MODEST: (1_000, 10_000), Size.LARGE: (1_000, 10_000)}
AT_ONCE = 8
KEVAL = "keval run"

SLOW_S = 30.0
"""A tool that takes longer for a number of evaluations is measured once: it is not close."""

INSPECT_AI = PythonPackage("inspect-ai")
PYDANTIC_EVALS = PythonPackage("pydantic-evals")
PROMPTFOO = NpmPackage("promptfoo")

OTHERS = Path(__file__).parent / "others"

INSPECT_AI_ENVIRON = (("XDG_DATA_HOME", "{folder}/kept"), ("XDG_CACHE_HOME", "{folder}/kept"))
PROMPTFOO_CONFIG = {"prompts": ["{{question}}"], "providers": ["echo"], "tests": "file://cases.json"}
PROMPTFOO_ENVIRON = (
    ("PROMPTFOO_CONFIG_DIR", "{folder}/kept"),
    ("PROMPTFOO_DISABLE_DEBUG_LOG", "1"),
    ("PROMPTFOO_DISABLE_TELEMETRY", "1"),
    ("PROMPTFOO_DISABLE_UPDATE", "1"),
    ("PROMPTFOO_DISABLE_REMOTE_GENERATION", "1"),
    ("PROMPTFOO_FAILED_TEST_EXIT_CODE", "0"),
)

Counts = dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool and how it is asked to do the work."""

    name: str
    keeps: str
    """What is on disk when an evaluation counts as done."""
    prepare: Callable[[Path, int], None]
    """Writes so many questions, and what else the tool wants, into a new folder."""
    command: Callable[[int], Sequence[str | Path]]
    """Returns what does so many evaluations. Raises NotInstalledError."""
    count: Callable[[Path], Counts]
    """Returns `done` and `passed`, from what the tool wrote into the folder or to `said.txt` there."""
    package: Package | None = None
    """Where it comes from; None for what is here already."""
    environ: tuple[tuple[str, str], ...] = ()
    """Variables, with `{folder}` for the folder."""


def _questions(folder: Path, number: int) -> None:
    folder.mkdir()
    workload.write_questions(folder / "questions.jsonl", number)


def _promptfoo_cases(folder: Path, number: int) -> None:
    _questions(folder, number)
    samples = map(json.loads, (folder / "questions.jsonl").read_text().splitlines())
    cases = [
        {"vars": {"question": sample["question"]}, "assert": [{"type": "equals", "value": sample["answer"]}]}
        for sample in samples
    ]
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "promptfooconfig.json").write_text(json.dumps(PROMPTFOO_CONFIG))


def _said(folder: Path) -> Counts:
    counts: Counts = json.loads((folder / "said.txt").read_text().splitlines()[-1])
    return counts


def _in_promptfoo_database(folder: Path) -> Counts:
    with closing(sqlite3.connect(folder / "kept" / "promptfoo.db")) as database:
        [(done, passed)] = database.execute("SELECT count(*), sum(success) FROM eval_results").fetchall()
    return {"done": done, "passed": passed}


def _in_log(folder: Path) -> Counts:
    counts = {"done": 0, "passed": 0}
    with (folder / "log.jsonl").open("rb") as lines:
        for line in lines:
            counts["done"] += line.startswith(b'{"type":"judgment"')
            counts["passed"] += line.startswith(b'{"type":"judgment"') and b'"passed":true' in line
    return counts


def _inspect_ai(**options: object) -> Callable[[int], Sequence[str | Path]]:
    script = OTHERS / "inspect_ai_evaluations.py"
    return lambda _: (INSPECT_AI.program(), script, json.dumps(options))


BARE_POOL = (sys.executable, "-m", "benchmarks.bare_pool")

TOOLS = (
    Tool(
        name="bare asyncio pool",
        keeps="each answer and each verdict: validated line, shared fsync",
        prepare=_questions,
        command=lambda number: (*BARE_POOL, str(number), str(AT_ONCE), "log.jsonl", "0"),
        count=_said,
        environ=(("PYTHONPATH", str(child.ROOT)),),
    ),
    Tool(
        name=KEVAL,
        keeps="each answer and each verdict: validated line, shared fsync; resumes",
        prepare=lambda folder, number: workload.write(folder, number, at_once=AT_ONCE),
        command=lambda _: (*child.KEVAL, *workload.RUN),
        count=_in_log,
    ),
    Tool(
        name="pydantic-evals",
        keeps="nothing: the report is in memory",
        prepare=_questions,
        command=lambda _: (PYDANTIC_EVALS.program(), OTHERS / "pydantic_evals_evaluations.py"),
        count=_said,
        package=PYDANTIC_EVALS,
    ),
    Tool(
        name="promptfoo",
        keeps="each result: a row in SQLite, fsync; resumes",
        prepare=_promptfoo_cases,
        command=lambda _: (
            PROMPTFOO.program(), "eval", "-c", "promptfooconfig.json", "-j", str(AT_ONCE), "--no-cache", "--no-table",
            "--no-progress-bar",
        ),
        count=_in_promptfoo_database,
        package=PROMPTFOO,
        environ=PROMPTFOO_ENVIRON,
    ),
    Tool(
        name="Inspect AI",
        keeps="samples in groups: log file without fsync, SQLite for its live view; retries",
        prepare=_questions,
        command=_inspect_ai(),
        count=_said,
        package=INSPECT_AI,
        environ=INSPECT_AI_ENVIRON,
    ),
    Tool(
        name="Inspect AI without its live view",
        keeps="samples in groups: log file without fsync; retries",
        prepare=_questions,
        command=_inspect_ai(log_realtime=False),
        count=_said,
        package=INSPECT_AI,
        environ=INSPECT_AI_ENVIRON,
    ),
)  # fmt: skip


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Let the tools take turns; at the tiny size only those that need no installation."""
    tools = [tool for tool in TOOLS if tool.package is None or size != Size.TINY]
    slow = set()
    for _ in range(repeat):
        for number in EVALUATIONS[size]:
            for tool in tools:
                if (tool, number) not in slow:
                    found = measured(tool, number)
                    yield {"tool": tool.name, "keeps": tool.keeps, "evaluations": number, **found}
                    if "skipped" in found or found["wall_s"] > SLOW_S:
                        slow.add((tool, number))


def measured(tool: Tool, number: int) -> Measurement:
    """Let a tool do so many evaluations, and check that it did."""
    try:
        command = tool.command(number)
        version = tool.package.version() if tool.package else None
    except NotInstalledError as error:
        return {"skipped": str(error)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        tool.prepare(folder, number)
        environ = {variable: value.format(folder=folder) for variable, value in tool.environ}
        usage = child.run(command, folder, environ=environ, output=folder / "said.txt").record()
        counts = {} if "failed" in usage else tool.count(folder)
    expected = {"done": number, "passed": workload.right_answers(number)}
    wrong = {name: count for name, count in counts.items() if count != expected[name]}
    failed = {"failed": f"not {expected}"} if wrong else {}
    return {"version": version, **usage, **counts, **failed}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return, for each number of evaluations, what each tool needed for them."""
    parts = []
    for number in values(measurements, "evaluations"):
        rows = []
        for tool in values(measurements, "tool"):
            found = where(measurements, tool=tool, evaluations=number)
            wall_s, cpu_s, peak = (middle(found, field) for field in ("wall_s", "cpu_s", "peak_mib"))
            rate = None if wall_s is None else found[0]["done"] / wall_s
            cells = (told(wall_s), told(rate, 0), told(cpu_s), told(peak, 0))
            version = found[0].get("version") or NONE
            rows.append((_named(found[0]), version, f"{found[0].get('done', 0):,}", *cells, found[0]["keeps"]))
        header = (
            "tool",
            "version",
            "evaluations done",
            "seconds",
            "evaluations/s",
            "CPU seconds",
            "peak MiB",
            "on disk",
        )
        parts += [table(header, rows), _faster(where(measurements, evaluations=number))]
    return "\n\n".join([*parts, f"Medians; a run longer than {SLOW_S:.0f} s is not repeated."])


def _faster(measurements: Sequence[Measurement]) -> str:
    """Return which tools took less time than keval."""
    seconds = {str(tool): middle(where(measurements, tool=tool), "wall_s") for tool in values(measurements, "tool")}
    own_s = seconds[KEVAL] or math.inf
    faster = [tool for tool, each_s in seconds.items() if each_s is not None and each_s < own_s]
    return f"Faster than keval: {', '.join(faster) or 'none'}."


def _named(measurement: Measurement) -> object:
    reason = measurement.get("skipped") or measurement.get("failed")
    return f"{measurement['tool']} ({reason})" if reason else measurement["tool"]


BENCHMARK = Benchmark(name="frameworks", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
