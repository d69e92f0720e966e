"""The worked example of the specification, and what has no effect size or test."""

from __future__ import annotations

from math import sqrt

import pytest
from scipy.stats import rankdata, ttest_1samp

from keval.stats import paired
from keval.stats.sign_flip import counted

DIFFERENCES = (0.5, 2 / 3, 1 / 6, 0.5, 5 / 12, 0)
"""B minus A of the worked example, by sample."""

MEAN, SD, SE = 0.375, 0.245798, 0.100347


def test_the_worked_example() -> None:
    """t, d_z, g_z, win rate and rank-biserial as the specification prints them."""
    assert paired.t_p(MEAN, SE, 5) == pytest.approx(0.013473, abs=1e-6)
    assert paired.standardized(MEAN, SD) == pytest.approx(1.525643, abs=1e-5)
    assert paired.hedges(MEAN, SD, 6) == pytest.approx(1.284752, abs=1e-5)
    assert paired.win_rate(5, 1, 6) == pytest.approx(5.5 / 6)
    assert paired.rank_biserial(counted(DIFFERENCES)) == 1.0


def test_the_worked_example_of_a_margin() -> None:
    """Not lower by 0.25 or more with p .000780; not known to be within 0.5 of each other: p .134035."""
    assert paired.not_lower_p(MEAN, SE, 5, 0.25) == pytest.approx(0.000780, abs=1e-6)
    assert paired.equivalent_p(MEAN, SE, 5, 0.5) == pytest.approx(0.134035, abs=1e-5)
    assert paired.equivalent_p(-MEAN, SE, 5, 0.5) == paired.equivalent_p(MEAN, SE, 5, 0.5)


def test_the_larger_standard_error_counts() -> None:
    """Of samples and clusters; where one is not known, neither is it."""
    assert (paired.tested_se(0.5, 0.25), paired.tested_se(0.25, 0.5)) == (0.5, 0.5)
    assert paired.tested_se(0.5, None) is paired.tested_se(None, None) is None


def test_t_is_that_of_scipy() -> None:
    """The two-sided p of the paired t test."""
    assert paired.t_p(MEAN, 0.24579801 / sqrt(6), 5) == pytest.approx(
        float(ttest_1samp(DIFFERENCES, 0).pvalue), abs=1e-6
    )


def test_ranks_of_equal_sizes_are_shared() -> None:
    """Ties among sizes have their mean rank, as scipy gives them; the sign says on which side a rank counts."""
    differences = (0.5, -0.5, 1.0, 1.0, -2.0, 0.25, 0.0)
    ranks = rankdata([abs(each) for each in differences if each])
    signed = sum(rank if each > 0 else -rank for rank, each in zip(ranks, filter(None, differences), strict=True))
    assert paired.rank_biserial(counted(differences)) == pytest.approx(signed / sum(ranks))


def test_what_does_not_vary_has_no_test() -> None:
    """No spread, no difference, no margin, no samples: each is None, never 0."""
    assert paired.t_p(1.0, 0, 4) is None
    assert paired.t_p(None, None, -1) is None
    assert paired.standardized(1.0, 0) is None
    assert paired.hedges(1.0, 0.5, 2) is None
    assert paired.not_lower_p(1.0, 0.5, 4, None) is None
    assert paired.equivalent_p(None, None, 4, 0.5) is None
    assert paired.win_rate(0, 0, 0) is None
    assert paired.rank_biserial({}) is None
