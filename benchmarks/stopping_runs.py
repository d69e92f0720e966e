"""How often a real run that stops when decided finds a difference between two conditions that do not differ.

    python -m benchmarks.stopping_runs [--size tiny|modest|large] [--repeat N] [--into FOLDER]

Each run is a whole session: config, log, agent, judge, and the rule after each finished sample. The agent answers
right as often under both conditions; another seed makes another run. No more than alpha of the runs may call a
difference, but for the luck of so many runs.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path

from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import table
from keval.agents import Answer
from keval.config.reader import load
from keval.config.until_section import Until
from keval.execution.config_session import run_all
from keval.executors.executor import Executor
from keval.executors.in_process import InProcess, judge_caller_of
from keval.executors.specs import AnswerSpec, JudgeSpec, Outcome
from keval.judges import Judgment
from keval.preparation.request import Request

RUNS = {Size.TINY: 2, Size.MODEST: 300, Size.LARGE: 2_000}
SAMPLES = 40
RIGHT = 0.5

CONFIG = """\
name: alike
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {one: {system_prompt: "one"}, other: {system_prompt: "other"}}
judges: [{type: exact_match}]
execution: {repetitions: 1, max_concurrent: CONCURRENT}
"""


class _Chance:
    """Answers right as often as not, whoever asks."""

    def __init__(self, judges: Executor, seed: int) -> None:
        self._judges = judges
        self._seed = seed

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Answer by a hash of the seed and what is asked."""
        told = f"{self._seed} {spec.turns[-1]} {spec.system_prompt}".encode()
        share = int.from_bytes(hashlib.sha256(told).digest()[:6], "big") / 2**48
        return Outcome(Answer("answered", "yes" if share < RIGHT else "no", cost_usd=0.0), 0)

    def judge(self, spec: JudgeSpec) -> Awaitable[Outcome[Judgment]]:
        """Let the judge judge."""
        return self._judges.judge(spec)

    def release(self, workspace: Path) -> None:
        """Do nothing: there are no folders."""

    async def move(self, workspace: Path, place: Path) -> None:
        """Do nothing: there are no folders."""

    async def close(self) -> None:
        """Do nothing: nothing is kept."""


def false_stops(folder: Path, runs: int, samples: int = SAMPLES, concurrent: int = 8) -> int:
    """Return how many of so many runs call a difference that is not there."""
    config_path = folder / "eval.yaml"
    config_path.write_text(CONFIG.replace("CONCURRENT", str(concurrent)))
    records = [{"id": f"s{number}", "question": f"Question {number}?", "answer": "yes"} for number in range(samples)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    config = load(config_path)
    judges = InProcess(None, judge_caller_of(config.judges, {}, {}, config.prices))
    called = 0
    for seed in range(runs):
        log = folder / "run.jsonl"
        run_all(config, log, Request(until=Until(), quiet=True), lambda _: None, _Chance(judges, seed))
        ended = json.loads(log.read_text().splitlines()[-1])
        called += ended["comparisons"][0]["conclusion"] in {"higher", "lower"}
        log.unlink()
    return called


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Yield how often a difference was called, one run after the other; once, as it is seeded."""
    del repeat
    with tempfile.TemporaryDirectory() as folder:
        called = false_stops(Path(folder), RUNS[size])
    yield {"runs": RUNS[size], "samples": SAMPLES, "alpha": Until().alpha, "called": called}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the share of the runs in which a difference was called."""
    rows = [
        (f"{each['runs']:,}", each["samples"], each["alpha"], f"{each['called'] / each['runs']:.1%}")
        for each in measurements
    ]
    return table(("runs of two conditions that are alike", "samples", "alpha", "called higher or lower"), rows)


BENCHMARK = Benchmark(name="stopping_runs", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
