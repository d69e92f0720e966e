"""The standard error of a mean of samples that belong together."""

from __future__ import annotations

from math import sqrt

import pytest

from keval.stats.clustered_se import clustered_se


def test_it_is_that_of_the_clusters_sums() -> None:
    """Three clusters with parts of 0.3, -0.1 and -0.2: √(3/2 · 0.14)."""
    parts = [("a", 0.1), ("b", -0.1), ("a", 0.2), ("c", -0.2)]
    assert clustered_se(parts) == pytest.approx(sqrt(1.5 * 0.14))


@pytest.mark.parametrize("parts", [[], [("a", 0.1), ("a", -0.1)], [("a", 0.1), ("b", 0.2), (None, -0.3)]])
def test_it_takes_two_clusters_and_one_for_each_sample(parts: list[tuple[str | None, float]]) -> None:
    """One cluster says nothing of others, and nobody knows what a sample without one belongs to."""
    assert clustered_se(parts) is None
