"""How often a run of a family of six comparisons that stops when decided errs, and what it saves.

    python -m benchmarks.stopping_families [--size tiny|modest|large] [--repeat N] [--into FOLDER]

Three conditions are compared with one baseline by two metrics, each scored from 1 to 5 as in `stopping_rule`: each
sample has a difficulty by each metric, which all conditions share. The rule's alpha holds for all six together. A
condition is asked no more when both of its comparisons are decided. Beside it stand the t tests that others would make:
of all samples, each by itself or with alpha divided by six, and of each sample's prefix from the tenth on. Table:
docs/stopping-early.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, cast

import numpy as np

from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.stopping_rule import FIVE, WORLDS, shift_for
from benchmarks.tables import table
from keval.stats.stopping_forecast import stops
from keval.stats.stopping_rule import Compared, StoppingRule
from keval.stats.student import two_sided

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RUNS = {Size.TINY: 10, Size.MODEST: 400, Size.LARGE: 2_000}
SAMPLES = {Size.TINY: (50,), Size.MODEST: (50, 200), Size.LARGE: (50, 200, 1000)}
CONDITIONS, METRICS = 3, 2
EFFECT = 0.5
DIFFERENT = (0, 3, 6)
"""How many of the six comparisons have a difference, of half a standard deviation."""
FIRST_LOOK = 10
NOTHING = 1e-12


def drawn(shifts: Floats, samples: int, random: np.random.Generator) -> Floats:
    """Return the differences of one run: conditions, metrics, samples. `shifts`: how latent scores are moved."""
    cuts = [NormalDist().inv_cdf(each) for each in np.cumsum(FIVE)[:-1]]
    difficulty = random.normal(0, np.sqrt(0.5), (1, METRICS, samples))
    noise = random.normal(0, np.sqrt(0.5), (CONDITIONS + 1, METRICS, samples))
    moved = np.concatenate([np.zeros((1, METRICS)), shifts])[..., np.newaxis]
    scores = np.searchsorted(cuts, difficulty + noise + moved).astype(float)
    return cast("Floats", scores[1:] - scores[0])


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Yield what becomes of the runs of each truth and number of samples; once, as it is seeded."""
    del repeat
    for samples in SAMPLES[size]:
        for different in DIFFERENT:
            random = np.random.default_rng([samples, different])
            shifts = np.zeros(CONDITIONS * METRICS)
            shifts[:different] = shift_for(WORLDS[0], EFFECT)
            shape = (CONDITIONS, METRICS)
            runs = [
                _outcome(drawn(shifts.reshape(shape), samples, random), (shifts < 0).reshape(shape), samples)
                for _ in range(RUNS[size])
            ]
            means = np.mean(runs, axis=0)
            told = dict(zip(KEYS, map(float, means), strict=True))
            yield {"samples": samples, "runs": RUNS[size], "different": different} | told


KEYS = ("false", "false_adjusted", "false_unadjusted", "false_peeking", "found", "found_adjusted", "ends_at", "asked")
"""What is told of each run; means over the runs. `found` are shares of the comparisons that differ."""


def _outcome(differences: Floats, is_lower: NDArray[np.bool_], samples: int) -> tuple[float, ...]:
    """Return what one run comes to, in the order of `KEYS`."""
    flat, truth = differences.reshape(-1, samples), is_lower.reshape(-1)
    used, directions = stops(flat, StoppingRule(len(flat)), Compared(len(FIVE) - 1, samples))
    asked = used.reshape(is_lower.shape).max(-1)
    adjusted, unadjusted = (_by_t(flat, 1 - 0.05 / family)[:, -1] for family in (len(flat), 1))
    peeks = _by_t(flat, 0.95)[:, FIRST_LOOK - 1 :]
    found = [float((each[truth] < 0).mean()) if truth.any() else 0.0 for each in (directions, adjusted)]
    return (
        *(float(_is_false(each, truth)) for each in (directions, adjusted, unadjusted)),
        float(any(_is_false(each, truth) for each in peeks.T)),
        *found,
        float(asked.max()),
        float((asked.sum() + asked.max()) / (samples * (CONDITIONS + 1))),
    )


def _is_false(directions: Floats, is_lower: NDArray[np.bool_]) -> bool:
    """Return whether anything is called that is not so."""
    return bool((directions > 0).any() or (directions[~is_lower] < 0).any())


def _by_t(differences: Floats, level: float) -> Floats:
    """Return what the t test of each prefix finds: 1 higher, −1 lower, 0 neither; a column per number of samples."""
    n = np.arange(1, differences.shape[-1] + 1)
    mean = differences.cumsum(-1) / n
    variance = ((differences**2).cumsum(-1) - n * mean**2) / np.maximum(n - 1, 1)
    se = np.sqrt(np.maximum(variance, 0) / n)
    is_beyond = np.abs(mean) > _critical(level, len(n)) * se
    return cast("Floats", np.where((se > NOTHING) & is_beyond, np.sign(mean), 0.0))


@cache
def _critical(level: float, samples: int) -> Floats:
    """Return how many standard errors reach to the ends of Student's interval of 1, 2, … samples."""
    return np.array([0.0, *(two_sided(level, n) for n in range(1, samples))])


def tables(measurements: Sequence[Measurement]) -> str:
    """Return what was called falsely, what was found, and what it took."""
    rows = [
        (
            each["samples"], f"{each['runs']:,}", each["different"],
            *(f"{each[key]:.1%}" for key in ("false", "false_adjusted", "false_unadjusted", "false_peeking")),
            f"{each['found']:.0%} ({each['found_adjusted']:.0%})" if each["different"] else "–",
            f"{each['ends_at']:.0f}", f"{each['asked']:.0%}",
        )
        for each in measurements
    ]  # fmt: skip
    false = ("rule: any false", "t / 6: any false", "t: any false", "t at each look: any false")
    return table(("samples", "runs", "of 6 differ", *false, "found (t / 6)", "ends at", "asked of all"), rows)


BENCHMARK = Benchmark(name="stopping_families", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
