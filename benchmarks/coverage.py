"""How often an interval holds the truth, by the interval that every aggregate has: nominal are 95 %.

    python -m benchmarks.coverage [--size tiny|modest|large] [--repeat N] [--into FOLDER]

Scores are drawn, seeded, from distributions whose mean is known: scores from 1 to 5 and near the end of that scale,
pass rates near and far from 1, samples that belong together, differences of two conditions. Beside it stands Student's
t of the same samples as if each stood alone.
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
from keval.stats.intervals import t_interval
from keval.stats.mean_intervals import mean_interval

PASS_OR_FAIL = 2
"""Levels."""

SHARED = 0.5
"""How many samples of a cluster are as easy as its first one."""

DRAWS = {Size.TINY: 20, Size.MODEST: 2_000, Size.LARGE: 20_000}


@dataclass(frozen=True, slots=True)
class World:
    """How scores come about."""

    name: str
    samples: int
    levels: int
    """5 for scores from 1 to 5, 2 for pass and fail."""
    ease: tuple[float, float]
    """The two parameters of the beta distribution from which a sample's chance of each point is drawn."""
    repetitions: int = 3
    cluster: int = 0
    """How many samples share half of what makes them easy or hard; 0: none do."""
    paired: bool = False
    """Whether it is the difference of two conditions that are alike."""

    @property
    def truth(self) -> float:
        """The mean over all samples that could be drawn."""
        one, other = self.ease
        share = one / (one + other)
        return 0.0 if self.paired else share if self.levels == PASS_OR_FAIL else 1 + (self.levels - 1) * share


WORLDS = (
    World("five points", 10, 5, (2, 1)),
    World("five points", 30, 5, (2, 1)),
    World("five points, mean 4.7", 10, 5, (7.4, 0.6)),
    World("five points, mean 4.7", 30, 5, (7.4, 0.6)),
    World("pass or fail, 80 %", 20, 2, (4, 1), repetitions=1),
    World("pass or fail, 95 %", 10, 2, (9.5, 0.5), repetitions=1),
    World("pass rate, 80 %", 10, 2, (4, 1)),
    World("pass rate, 80 %", 100, 2, (4, 1), repetitions=5),
    World("pass rate, 95 %", 20, 2, (9.5, 0.5)),
    World("5 clusters of 4", 20, 5, (2, 1), cluster=4),
    World("20 clusters of 4", 80, 5, (2, 1), cluster=4),
    World("pass rate, 10 clusters of 4", 40, 2, (4, 1), cluster=4),
    World("difference of two", 10, 5, (2, 1), paired=True),
    World("difference of two", 30, 5, (2, 1), paired=True),
)


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Yield for each world how often the interval holds the truth; once, as it is seeded."""
    del repeat
    for world in WORLDS:
        source = random.Random(f"{world.name}, {world.samples}")  # noqa: S311 - a simulation
        rows = [_row(world, _means(world, source)) for _ in range(DRAWS[size])]
        chosen = [mean_interval(row) for row in rows]
        yield {
            "name": world.name, "samples": world.samples, "draws": len(rows), "method": chosen[0].method,
            "held": fmean(_holds(world, each.lower, each.upper) for each in chosen),
            "by_t": fmean(_holds(world, *_alone(row)) for row in rows),
        }  # fmt: skip


def _holds(world: World, lower: float | None, upper: float | None) -> bool:
    """Return whether the truth lies within; an interval that there is not holds nothing."""
    return lower is not None and upper is not None and lower <= world.truth <= upper


def _alone(row: dict[str, Any]) -> tuple[float, float] | tuple[None, None]:
    return t_interval(row["mean"], row["se"], row["n_samples"]) if row["se"] else (None, None)


def _means(world: World, source: random.Random) -> list[float]:
    """Return the samples' means; half of the samples of a cluster have the ease of its first one."""
    found, shared = [], 0.0
    for number in range(world.samples):
        ease = source.betavariate(*world.ease)
        if world.cluster and number % world.cluster == 0:
            shared = ease
        if world.cluster and source.random() < SHARED:
            ease = shared
        one = _mean(world, ease, source)
        found.append(one - _mean(world, ease, source) if world.paired else one)
    return found


def _mean(world: World, ease: float, source: random.Random) -> float:
    lowest = 1 if world.levels > PASS_OR_FAIL else 0
    points = (sum(source.random() < ease for _ in range(world.levels - 1)) for _ in range(world.repetitions))
    return lowest + fmean(points)


def _row(world: World, means: Sequence[float]) -> dict[str, Any]:
    """Return what a row of the view condition_scores has of these samples, as far as an interval reads it."""
    n, middle = len(means), fmean(means)
    clusters = [means[start : start + world.cluster] for start in range(0, n, world.cluster)] if world.cluster else []
    squares = sum(sum(each - middle for each in cluster) ** 2 for cluster in clusters)
    count = len(clusters)
    return {
        "mean": middle, "n_samples": n, "se": stdev(means) / sqrt(n), "n_trials": n * world.repetitions,
        "is_pass_fail": world.levels == PASS_OR_FAIL and not world.paired,
        "has_shares": any(0 < each < 1 for each in means),
        "has_clusters": bool(world.cluster), "n_clusters": count, "unclustered": 0,
        "se_clustered": sqrt(squares * count / (count - 1)) / n if count > 1 else None,
    }  # fmt: skip


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the share of the draws whose interval holds the truth."""
    rows = [
        (
            each["name"], each["samples"], f"{each['draws']:,}", f"`{each['method']}`",
            *(f"{each[key]:.1%}" for key in _SHARES),
        )
        for each in measurements
    ]  # fmt: skip
    return table(("scores", "samples", "draws", "interval", *_SHARES.values()), rows)


_SHARES = {"held": "holds the truth", "by_t": "Student's t over samples alone"}

BENCHMARK = Benchmark(name="coverage", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
