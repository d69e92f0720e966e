"""Properties of the choice of an interval."""

from __future__ import annotations

import pytest

from keval.ids import JsonObject
from keval.stats.intervals import t_interval
from keval.stats.mean_intervals import mean_interval
from keval.stats.proportions import wilson

ROW: JsonObject = {
    "sample_id": None, "mean": 0.5, "se": 0.1, "n_samples": 10, "n_trials": 10,
    "is_pass_fail": False, "has_shares": False, "has_clusters": False,
    "n_clusters": None, "unclustered": None, "se_clustered": None,
}  # fmt: skip
CLUSTERED = {"has_clusters": True, "n_clusters": 4, "unclustered": 0}


def test_a_graded_score_has_students_t() -> None:
    """Over samples, or over clusters with the larger standard error and their degrees of freedom."""
    found = mean_interval(ROW)
    assert (found.method, found.lower, found.upper) == ("t", *t_interval(0.5, 0.1, 10))
    for se, used in ((0.2, 0.2), (0.05, 0.1)):
        found = mean_interval(ROW | CLUSTERED | {"se_clustered": se})
        assert (found.method, found.lower, found.upper) == ("t_clustered", *t_interval(0.5, used, 4))


def test_a_pass_rate_has_wilsons_interval() -> None:
    """Also where all samples pass, and no other score has an interval."""
    sure = {"mean": 1.0, "se": 0.0, "is_pass_fail": True}
    found = mean_interval(ROW | sure)
    assert (found.method, found.lower, found.upper) == ("wilson", *wilson(1.0, 10))
    graded = mean_interval(ROW | sure | {"is_pass_fail": False})
    assert (graded.lower, graded.reason) == (None, "all samples have the same mean")


def test_few_samples_that_all_pass_are_too_few() -> None:
    """That they have the same mean is no reason: more of them would have an interval."""
    found = mean_interval(ROW | {"mean": 1.0, "se": 0.0, "is_pass_fail": True, "n_samples": 3})
    assert (found.lower, found.reason) == (None, "fewer than 5 samples: no interval is shown")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"se": None, "n_samples": 1}, "one sample"),
        ({"n_samples": 4}, "fewer than 5 samples: no interval is shown"),
        (CLUSTERED | {"n_clusters": 1}, "one cluster"),
        (CLUSTERED | {"unclustered": 3}, "samples without a cluster: 3"),
    ],
)
def test_too_little_to_go_by_gives_no_interval(row: JsonObject, reason: str) -> None:
    """And says why, for pass rates too."""
    for is_pass_fail in (True, False):
        found = mean_interval({**ROW, **row, "is_pass_fail": is_pass_fail})
        assert (found.lower, found.upper, found.reason) == (None, None, reason)
