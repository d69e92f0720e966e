"""The sign-flip permutation test of paired differences: if the conditions do not differ, their signs are chance.

Fisher 1935, Pitman 1937. Exact while there are few differences; of more, signs are drawn (Phipson and Smyth 2010: a p
from drawing is never 0). Only sizes are flipped, so the order in which two conditions are named changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum

from keval.projections import NOISE

MOST_EXACT = 20
"""Up to so many differences all 2^m ways to give them signs are counted."""

DRAWS = 100_000
"""How often signs are drawn for more differences."""

MOST_SIGNS_DRAWN, FEWEST_DRAWS = 3 * 10**8, 1000
"""Draws times signs; of more than three thousand differences fewer draws are made, which is said, but never too few."""

OFTEN = 64
"""Of a size that occurs more often, the number of positive signs is drawn; of others each sign, which is faster."""

SEED = 0

ROUNDED = 1e-11
"""To this the view rounds differences, as shares of the largest value: so far off may each of them be in a sum."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """What the test found."""

    p: float
    """The two-sided p of the mean, which is never 0."""
    smallest: float
    """The smallest p that so many differences could have had."""
    flipped: int
    """How many samples, or clusters of samples, differ."""
    draws: int | None
    """How often signs were drawn; None: all ways were counted."""
    seed: int | None


def counted(differences: Iterable[float]) -> dict[float, int]:
    """Return how often each difference occurs."""
    found: dict[float, int] = {}
    for difference in differences:
        found[difference] = found.get(difference, 0) + 1
    return found


def sign_flip(differences: Mapping[float, int]) -> SignFlip:
    """Test the mean of differences of which each occurs so often; those that are 0 change nothing.

    Means are as extreme as the one found if they are as large but for float noise, and for the rounding of differences:
    thirds that cancel out in one sum and not in another would break ties otherwise.
    """
    sizes: dict[float, int] = {}
    for difference, times in differences.items():
        if difference:
            sizes[abs(difference)] = sizes.get(abs(difference), 0) + times
    sizes = dict(sorted(sizes.items()))
    flipped = sum(sizes.values())
    total = fsum(size * times for size, times in sizes.items())
    # The signs of equal sizes need no order: this many sums are to be found, and no more.
    noise = NOISE * total + ROUNDED * flipped
    least = abs(fsum(difference * times for difference, times in differences.items())) - noise
    if flipped <= MOST_EXACT:
        return SignFlip(_share(sizes, least), min(1.0, 2.0 ** (1 - flipped)), flipped, None, None)
    signs = sum(min(times, OFTEN) for times in sizes.values())
    draws = max(FEWEST_DRAWS, min(DRAWS, MOST_SIGNS_DRAWN // signs))
    beyond = _drawn(sizes, least, draws)
    return SignFlip((beyond + 1) / (draws + 1), 1 / (draws + 1), flipped, draws, SEED)


def _share(sizes: Mapping[float, int], least: float) -> float:
    """Return the share of all sign assignments whose sum is at least so far from 0; it meets in the middle."""
    if least <= 0:
        return 1.0
    each = [size for size, times in sizes.items() for _ in range(times)]
    half, other = _sums(each[::2]), sorted(_sums(each[1::2]))
    # By symmetry as many sums are as far below 0 as above it; `least` is smaller than the sum by float noise.
    above = sum(len(other) - bisect_right(other, least - one) for one in half)
    return 2 * above / 2.0 ** len(each)


def _sums(sizes: Iterable[float]) -> list[float]:
    sums = [0.0]
    for size in sizes:
        sums = [found + sign for found in sums for sign in (size, -size)]
    return sums


def _drawn(sizes: Mapping[float, int], least: float, draws: int) -> int:
    """Return how many of so many drawn sums are at least so far from 0."""
    import numpy as np

    random, sums = np.random.default_rng(SEED), np.zeros(draws)
    for size, times in sizes.items():
        if times > OFTEN:
            sums += size * (2.0 * random.binomial(times, 0.5, draws) - times)
    # A byte draws the signs of eight differences: it is looked up what these come to with them.
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1) - 1
    each = [size for size, times in sizes.items() if times <= OFTEN for _ in range(times)]
    for eight in np.append(each, np.zeros(-len(each) % 8)).reshape(-1, 8):
        sums += (signs @ eight)[random.integers(0, 256, draws, dtype=np.uint8)]
    return int(np.count_nonzero(np.abs(sums) >= least))
