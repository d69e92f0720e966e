"""The standard error of a mean whose samples belong together: CR1 (Cameron and Miller 2015)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import fsum, sqrt

FEWEST_CLUSTERS = 2
"""The fewest clusters that can differ."""


def clustered_se(parts: Iterable[tuple[str | None, float]]) -> float | None:
    """Return √(G / (G − 1) · Σ (sum of a cluster's parts)²).

    Each sample gives its cluster and its part, which is what it adds to how far the mean lies from the truth:
    (value − mean) / n. None where a sample has no cluster, or all have the same.
    """
    of_cluster: dict[str | None, list[float]] = defaultdict(list)
    for cluster, part in parts:
        of_cluster[cluster].append(part)
    number = len(of_cluster)
    if None in of_cluster or number < FEWEST_CLUSTERS:
        return None
    return sqrt(number / (number - 1) * fsum(fsum(each) ** 2 for each in of_cluster.values()))
