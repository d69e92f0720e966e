"""Properties of the tests of all differences of a log."""

from __future__ import annotations

from typing import Any

from keval.stats.comparisons import with_tests
from keval.stats.declared import Declared


def row(metric: str, differences: dict[float, int], **changes: object) -> dict[str, Any]:
    """Return a row of the view `comparisons`, as far as the tests read it."""
    fixed = {"judge": "rubric", "metric": metric, "min": 1.0, "max": 5.0, "current": True, "failures_flipped": {}}
    alone = {"n_clusters": None, "unclustered": None, "se_clustered": None, "se": 0.25}
    return fixed | alone | {"flipped": differences, "n_paired": 10} | changes


def test_the_family_is_that_of_primary_metrics() -> None:
    """p-values are adjusted for the primary ones alone; others, older ones and those without a p keep theirs."""
    rows = [
        row("a", {0.5: 8}),
        row("b", {0.5: 6, -0.5: 1}),
        row("c", {0.5: 8}),
        row("a", {0.5: 8}, current=False),
        row("b", {}, n_paired=0),
    ]
    found = with_tests(rows, Declared(("a", "b")))
    assert [each["sign_flip"].p for each in found] == [2 / 256, 16 / 128, 2 / 256, 2 / 256, 1]
    assert [each["p_holm"] for each in found] == [4 / 256, 16 / 128, None, None, None]
    assert [each["family_size"] for each in found] == [2, 2, 0, 0, 0]


def test_failures_have_a_test_of_their_own() -> None:
    """What scores alike may fail unlike: 6 samples that only one of the two conditions answers."""
    (found,) = with_tests([row("a", {}, failures_flipped={1.0: 6, 0.0: 4})], Declared())
    assert (found["sign_flip"].p, found["failures_flip"].p) == (1.0, 2 / 64)


def test_samples_in_clusters_are_tested_as_clusters() -> None:
    """The larger standard error counts, with one degree less than there are clusters."""
    clustered = {"n_clusters": 4, "unclustered": 0}
    rows = [row("a", {1.5: 4}, se_clustered=se, **clustered) for se in (0.5, 0.125, None)]
    found = with_tests(rows, Declared())
    assert [(each["se_tested"], each["degrees"]) for each in found] == [(0.5, 3), (0.25, 3), (None, 3)]


def test_a_sample_without_a_cluster_leaves_no_test() -> None:
    """What it belongs to is not known: its comparison has no p and is not in the family."""
    clustered = {"n_clusters": 4, "unclustered": 1}
    unknown, known = with_tests([row("a", {1.5: 4}, **clustered), row("b", {0.5: 8})], Declared())
    assert (unknown["can_flip"], unknown["p_holm"], known["family_size"]) == (False, None, 1)
