"""Kills keval with SIGKILL again and again while it works, and counts what was lost and what was paid twice.

One service, a mock, outlives all the processes and counts what it is asked: its own count is the bill.
After each kill the bill is compared with what the log holds. Some kills take the machine down too: the
last line is then cut off at a random byte, as a disk may keep it. At the end the log is compared with
that of a run that nobody disturbed.

    python -m benchmarks.kills [--size tiny|modest|large]

tests/pipes/test_kill.py asks for the same, and for what has to be true of the figures.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.lane import Lane
from benchmarks.ordeal import CLAUDE, ECHO, GENERATE, PROGRAM, WHOLE, Bill, Ordeal, Outcome
from benchmarks.tables import table, values, where

KILLS = {Size.TINY: 3, Size.MODEST: 20, Size.LARGE: 200}
"""In all; `large` takes three to eight minutes."""

SEED = 1


def go_through(ordeals: list[Ordeal], folder: Path) -> list[Outcome]:
    """Go through several ordeals, two at a time."""
    lanes = [Lane(ordeal, folder / f"lane{number}") for number, ordeal in enumerate(ordeals)]
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(Lane.go_through, lanes))


def ordeals(kills: int, seed: int) -> list[Ordeal]:
    """Return two ordeals with so many kills in all: an agent that is a program, and one that is nothing."""
    few = round(kills * 0.4)  # each answer of a program takes a process
    many = kills - few
    return [
        Ordeal(agent=PROGRAM, paid_agent=True, samples=few, repetitions=3, kills=few, seed=seed),
        Ordeal(agent=ECHO, paid_agent=False, samples=many, repetitions=4, kills=many, seed=seed + 1),
    ]


def claude(kills: int, seed: int) -> Ordeal:
    """Return an ordeal with the real CLI of the claude agent."""
    commands = ((WHOLE,), (WHOLE,), (GENERATE,))
    return Ordeal(
        agent=CLAUDE, paid_agent=True, samples=kills, repetitions=1, kills=kills, seed=seed, at_once=2,
        commands=commands,
    )  # fmt: skip


def summary(outcome: Outcome) -> str:
    """Return the figures of an ordeal."""
    kills = outcome.kills
    figures = {
        "kills": f"{len(kills)} in {outcome.seconds:.0f} s",
        "of": dict(Counter(kill.commands for kill in kills)),
        "when": dict(Counter(kill.when.partition(" ")[0] for kill in kills)),
        "paid": f"{outcome.paid}, undisturbed {outcome.undisturbed_paid}",
        "excess": f"{outcome.excess}, in flight at most {outcome.allowed}",
        "most lost by one kill": Bill(
            max(kill.lost.answers for kill in kills), max(kill.lost.judgments for kill in kills)
        ),
        "lines cut off": len(outcome.torn),
        "longest life of an orphan": f"{max(kill.orphans_s for kill in kills):.1f} s",
    }
    return "\n".join(f"{name}: {figure}" for name, figure in figures.items()) + "\n"


def measure(size: Size, _: int) -> Iterator[Measurement]:
    """Go through all ordeals, once: tell of each kill, and of the bill at the end."""
    kills = KILLS[size]
    of_claude = kills // 20
    work = ordeals(kills - of_claude, SEED) + ([claude(of_claude, SEED)] if of_claude else [])
    with tempfile.TemporaryDirectory() as folder:
        for agent, outcome in zip(("program", "echo", "claude"), go_through(work, Path(folder)), strict=False):
            yield from ({"agent": agent, **asdict(kill)} for kill in outcome.kills)
            bill = _bill(outcome)
            excess = bill["paid"] - bill["undisturbed"]
            failed = {"failed": "more was lost than was in flight"} if excess > bill["allowed"] else {}
            yield {"agent": agent, "bill": bill, "seconds": round(outcome.seconds, 1), **failed}


def _bill(outcome: Outcome) -> dict[str, int]:
    return {
        "kills": len(outcome.kills),
        "paid": outcome.paid.answers + outcome.paid.judgments,
        "undisturbed": outcome.undisturbed_paid.answers + outcome.undisturbed_paid.judgments,
        "allowed": outcome.allowed.answers + outcome.allowed.judgments,
        "torn": len(outcome.torn),
    }


def tables(measurements: Sequence[Measurement]) -> str:
    """Return what all kills of each agent came to."""
    rows = []
    for agent in values(measurements, "agent"):
        found = where(measurements, agent=agent)
        [bill] = [each["bill"] for each in found if "bill" in each]
        more = bill["paid"] - bill["undisturbed"]
        orphans_s = max((each["orphans_s"] for each in found if "orphans_s" in each), default=0.0)
        rows.append(
            (agent, bill["kills"], bill["undisturbed"], more, bill["allowed"], bill["torn"], f"{orphans_s:.1f} s")
        )
    header = ("agent", "kills", "paid calls without kills", "more with kills", "in flight at most", "lines cut off",
              "longest life of an orphan")  # fmt: skip
    return table(header, rows)


BENCHMARK = Benchmark(name="kills", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
