"""How often the rule of runs that stop when decided errs, what it saves, and what it costs: by drawn scores.

    python -m benchmarks.stopping_rule [--size tiny|modest|large] [--repeat N] [--into FOLDER]

Scores are a latent normal difficulty of each sample (half of the variance) plus noise of each answer, cut into five
points (2, 3, 10, 25 and 60 %) or into pass and fail. The condition's latent scores are moved down so that differences
have the stated mean, in standard deviations. `rare` has no difference on the mean: −4 in 5 % of the samples, and +1 in
20 %. With a margin, differences have no mean or that of the margin itself, where "no difference" is just false.
Tables: docs/stopping-early.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, cast

import numpy as np

from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import table
from keval.stats.stopping_forecast import stops
from keval.stats.stopping_rule import Compared, StoppingRule
from keval.stats.student import two_sided

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RUNS = {Size.TINY: 20, Size.MODEST: 1_000, Size.LARGE: 4_000}
SAMPLES = {Size.TINY: (50,), Size.MODEST: (50, 200), Size.LARGE: (20, 50, 100, 200, 1000)}
EFFECTS = {Size.TINY: (0.0, 0.5), Size.MODEST: (0.0, 0.3, 0.5, 1.0), Size.LARGE: (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)}
AT_ONCE = 10**5
"""Differences that are in memory at once, twenty times."""
TUNING = 100_000
"""Samples by which a shift is found that gives the stated mean."""


@dataclass(frozen=True, slots=True)
class World:
    """How scores come about."""

    name: str
    shares: tuple[float, ...]
    """How often the baseline has each score, the lowest first; they are 1 apart."""
    repetitions: int

    @property
    def reach(self) -> int:
        """The length of the scale."""
        return len(self.shares) - 1


FIVE = (0.02, 0.03, 0.10, 0.25, 0.60)
WORLDS = (
    World("1–5, r=1", FIVE, 1),
    World("1–5, r=3", FIVE, 3),
    World("pass/fail .5, r=1", (0.5, 0.5), 1),
    World("pass/fail .95, r=3", (0.05, 0.95), 3),
)
RARE = "rare"
MARGINS = {"1–5, r=1": (0.2,), "1–5, r=3": (0.2, 0.5), "pass/fail .5, r=1": (0.1,), "pass/fail .95, r=3": (0.05,)}
"""What is asked to be no difference, by the name of the world."""


def drawn(world: World, shift: float, runs: int, samples: int, random: np.random.Generator) -> Floats:
    """Return the differences of so many runs, one per row."""
    cuts = [NormalDist().inv_cdf(each) for each in np.cumsum(world.shares)[:-1]]
    difficulty = random.normal(0, np.sqrt(0.5), (runs, samples, 1))

    def means(moved: float) -> Floats:
        latent = difficulty + moved + random.normal(0, np.sqrt(0.5), (runs, samples, world.repetitions))
        return cast("Floats", np.searchsorted(cuts, latent).mean(-1))

    return means(shift) - means(0.0)


@cache
def shift_for(world: World, effect: float, *, is_in_points: bool = False) -> float:
    """Return by how much latent scores are moved so that the mean is so many SD, or points, below 0."""
    low, high = 0.0, 8.0
    for _ in range(25):
        middle = (low + high) / 2
        found = drawn(world, -middle, 1, TUNING, np.random.default_rng(1))[0]
        low, high = (middle, high) if -found.mean() < effect * (1 if is_in_points else found.std()) else (low, middle)
    return -(low + high) / 2


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Yield what becomes of the runs of each world, effect and number of samples; once, as it is seeded."""
    del repeat
    for samples in SAMPLES[size]:
        for world in WORLDS:
            for effect in EFFECTS[size]:
                shift = shift_for(world, effect) if effect else 0.0
                random = np.random.default_rng([samples, int(effect * 10), WORLDS.index(world)])
                parts = (drawn(world, shift, runs, samples, random) for runs in _parts(RUNS[size], samples))
                yield {"world": world.name, "effect": effect, **_measured(parts, world.reach, samples)}
        random = np.random.default_rng(samples)
        parts = (
            random.choice([-4.0, 0.0, 1.0], (runs, samples), p=[0.05, 0.75, 0.2])
            for runs in _parts(RUNS[size], samples)
        )
        yield {"world": RARE, "effect": 0.0, **_measured(parts, 4, samples)}
        yield from _with_margins(size, samples)


def _with_margins(size: Size, samples: int) -> Iterator[Measurement]:
    """Yield what is found of conditions that are alike, and of those that differ by exactly the margin."""
    for world in WORLDS:
        for margin, differs in ((margin, differs) for margin in MARGINS[world.name] for differs in (False, True)):
            shift = shift_for(world, margin, is_in_points=True) if differs else 0.0
            random = np.random.default_rng([samples, int(margin * 100), WORLDS.index(world), differs])
            parts = (drawn(world, shift, runs, samples, random) for runs in _parts(RUNS[size], samples))
            measured = _measured(parts, world.reach, samples, margin)
            yield {"world": world.name, "margin": margin, "differs": differs, **measured}


def _parts(runs: int, samples: int) -> Iterator[int]:
    """Yield how many runs are drawn at once."""
    at_once = max(1, AT_ONCE // samples)
    for first in range(0, runs, at_once):
        yield min(at_once, runs - first)


def _measured(parts: Iterator[Floats], reach: float, samples: int, margin: float | None = None) -> Measurement:
    rule, compared = StoppingRule(1), Compared(reach, samples, margin)
    used, found, ordinary = [], [], []
    for differences in parts:
        stopped, direction = stops(differences, rule, compared)
        used.append(stopped)
        found.append(direction)
        ordinary.append(_ordinary(differences, margin))
    directions, by_t = np.concatenate(found), np.concatenate(ordinary)
    return {
        "samples": samples,
        "runs": len(directions),
        "used": float(np.concatenate(used).mean()),
        "higher": float((directions > 0).mean()),
        "lower": float((directions < 0).mean()),
        "within": float((directions == 0).mean()),
        "ordinary_higher": float((by_t > 0).mean()),
        "ordinary_lower": float((by_t < 0).mean()),
        "ordinary_within": float((by_t == 0).mean()),
    }


def _ordinary(differences: Floats, margin: float | None) -> Floats:
    """Return what the t interval of all samples shows: 1 higher, −1 lower, 0 no difference, NaN nothing."""
    n = differences.shape[-1]
    mean, se = differences.mean(-1), differences.std(-1, ddof=1) / np.sqrt(n)
    reach = two_sided(0.95, n - 1) * se
    is_within = (se > 0) & (np.abs(mean) + reach < (margin or 0))
    beyond = np.where((se > 0) & (np.abs(mean) > reach), np.sign(mean), np.nan)
    return cast("Floats", np.where(is_within & np.isnan(beyond), 0.0, beyond))


def tables(measurements: Sequence[Measurement]) -> str:
    """Show false conclusions where nothing differs, samples used and power where something does, and margins."""
    null = [each for each in measurements if each.get("effect") == 0]
    rows = [
        (
            each["world"], each["samples"], f"{each['runs']:,}", f"{each['higher'] + each['lower']:.1%}",
            f"{each['ordinary_higher'] + each['ordinary_lower']:.1%}",
        )
        for each in null
    ]  # fmt: skip
    false = table(("nothing differs", "samples", "runs", "rule: called", "t of all samples: called"), rows)
    return f"{false}\n\n{_power(measurements)}\n\n{_margins(measurements)}"


def _power(measurements: Sequence[Measurement]) -> str:
    there = [each for each in measurements if each.get("effect")]
    effects = sorted({each["effect"] for each in there})
    of = {(each["world"], each["samples"], each["effect"]): each for each in there}
    rows = [
        (world, samples, *(_cell(of.get((world, samples, effect))) for effect in effects))
        for world, samples in dict.fromkeys((each["world"], each["samples"]) for each in there)
    ]
    return table(("used on average / found (t of all)", "samples", *(f"{effect} SD" for effect in effects)), rows)


def _margins(measurements: Sequence[Measurement]) -> str:
    there = [each for each in measurements if "margin" in each]
    of = {(each["world"], each["margin"], each["samples"], each["differs"]): each for each in there}
    rows = [
        (
            world, margin, samples, f"{alike['used']:.0f}", f"{alike['within']:.0%} ({alike['ordinary_within']:.0%})",
            f"{(differs := of[world, margin, samples, True])['within']:.1%} ({differs['ordinary_within']:.1%})",
        )
        for (world, margin, samples, is_other), alike in of.items() if not is_other
    ]  # fmt: skip
    told = ("used if alike", "alike: called no difference (t)", "differ by the margin: called no difference (t)")
    return table(("scores", "margin", "samples", *told), rows)


def _cell(each: Measurement | None) -> str:
    return "–" if each is None else f"{each['used']:.0f} / {each['lower']:.0%} ({each['ordinary_lower']:.0%})"


BENCHMARK = Benchmark(name="stopping_rule", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
