"""How often a difference is called between two conditions that do not differ, by the rules of every comparison.

    python -m benchmarks.false_differences [--size tiny|modest|large] [--repeat N] [--into FOLDER]

Scores of both conditions are drawn from the same distribution, seeded: five-point and pass/fail scores, samples that
differ in difficulty, unequal repetitions, and answers that are missing. Called is what is concluded to be higher or
lower; no more than alpha of the draws may be, but for the luck of so many draws.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import table
from keval.stats import paired
from keval.stats.conclusions import ALPHA, concluded
from keval.stats.intervals import interval
from keval.stats.sign_flip import counted, sign_flip

DRAWS = {Size.TINY: 20, Size.MODEST: 200, Size.LARGE: 5_000}


@dataclass(frozen=True, slots=True)
class World:
    """How scores come about; both conditions live in it."""

    name: str
    samples: int
    levels: int
    """5 for scores from 1 to 5, 2 for pass and fail."""
    repetitions: tuple[int, ...]
    """How often a sample is answered, drawn for each condition by itself."""
    missing: float
    """Share of the answers that are not there."""


WORLDS = (
    World("few samples", 6, 5, (3,), 0.0),
    World("five points", 30, 5, (3,), 0.0),
    World("unequal repetitions", 30, 5, (1, 2, 5), 0.0),
    World("missing answers", 30, 5, (1, 3), 0.2),
    World("pass or fail", 20, 2, (1,), 0.0),
    World("pass or fail, hardly any fails", 100, 2, (1, 3), 0.1),
)


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Yield for each world how often each test calls a difference, and how often both do; once, as it is seeded."""
    del repeat
    for world in WORLDS:
        source = random.Random(world.name)  # noqa: S311 - a simulation
        bodies = [_body(_differences(world, source)) for _ in range(DRAWS[size])]
        called = sum(concluded(body, None, None)["conclusion"] in {"higher", "lower"} for body in bodies)
        of_t = sum(body["p_t"] is not None and body["p_t"] <= ALPHA for body in bodies)
        of_flips = sum(body["p"] <= ALPHA for body in bodies)
        yield {
            "name": world.name, "samples": world.samples, "draws": len(bodies),
            "called": called / len(bodies), "t": of_t / len(bodies), "sign_flip": of_flips / len(bodies),
        }  # fmt: skip


def _differences(world: World, source: random.Random) -> list[float]:
    """Return the differences of the samples that have an answer under both conditions."""
    found = []
    for _ in range(world.samples):
        ease = source.betavariate(2, 1)
        one, other = (_mean(world, ease, source) for _ in range(2))
        if one is not None and other is not None:
            found.append(round(one - other, 11))
    return found


def _mean(world: World, ease: float, source: random.Random) -> float | None:
    scores = [
        sum(source.random() < ease for _ in range(world.levels - 1))
        for _ in range(source.choice(world.repetitions))
        if source.random() >= world.missing
    ]
    return fmean(scores) if scores else None


def _body(differences: list[float]) -> dict[str, Any]:
    """Return what a comparison event has of these differences, as far as a conclusion reads it."""
    n = len(differences)
    mean, sd = (fmean(differences), stdev(differences)) if n > 1 else (None, None)
    se = None if sd is None else sd / sqrt(n)
    lower, upper = interval(mean, se, n)
    return {
        "difference": mean, "n_paired": n, "ci_lower": lower, "ci_upper": upper, "reasons": {},
        "p": sign_flip(counted(differences)).p, "p_t": paired.t_p(mean, se, n - 1),
    }  # fmt: skip


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the share of the draws in which a difference was called."""
    rows = [
        (each["name"], f"{each['samples']}", f"{each['draws']:,}", *(f"{each[key]:.1%}" for key in _SHARES.values()))
        for each in measurements
    ]
    return table(("both conditions alike", "samples", "draws", *_SHARES), rows)


_SHARES = {"called higher or lower": "called", "t alone": "t", "sign flips alone": "sign_flip"}

BENCHMARK = Benchmark(name="false_differences", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
