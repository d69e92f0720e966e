from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest

from keval.stats.intervals import t_interval
from keval.stats.ppi import FEWEST_LABELLED, Estimate, corrected_mean, ppi

PEOPLE = [4, 3, 5, 2, 4, 1, 5, 3, 4, 2]
JUDGE = [5, 3, 5, 3, 4, 2, 5, 4, 4, 3]
REST = [5, 4, 5, 3, 4, 4, 2, 5, 3, 4, 5, 5, 4, 3, 2, 5, 4, 4, 5, 3, 4, 5, 5, 2, 4, 3, 5, 4, 5, 4]
LABELLED = list(zip(PEOPLE, JUDGE, strict=True))


def test_the_worked_example() -> None:
    """Naive 3.95, people alone 3.3 ± 0.423, and both together 3.499 ± 0.245 with nearly all of the judge."""
    found = ppi(LABELLED, REST)
    assert (found.judge_weight, found.mean, found.se) == pytest.approx((0.994723, 3.498945, 0.244664), abs=1e-6)
    whole = ppi(LABELLED, REST, weight=1)
    assert (whole.mean, whole.se) == pytest.approx((3.5, 0.244871), abs=1e-6)
    both = corrected_mean(LABELLED, REST)
    assert both.judge_mean == pytest.approx(3.95)
    assert both.people is not None
    assert (both.people.mean, both.people.se) == pytest.approx((3.3, 0.422953), abs=1e-6)


def test_samples_that_belong_together_are_no_independent_ones() -> None:
    """Each sample ten times, as one cluster: the error is that of the clusters, not of ten times as many samples."""
    clusters = ([f"c{place}" for place in range(10)] * 10, ["rest"] * 300)
    alone, found = (corrected_mean(LABELLED * 10, REST * 10, given) for given in (None, clusters))
    assert found.people is not None
    assert found.people.se == pytest.approx(0.422953, abs=1e-6)
    assert found.people.interval == pytest.approx(t_interval(3.3, 0.422953, 10), abs=1e-5)
    assert found.corrected is not None
    assert alone.corrected is not None
    assert (found.corrected.se or 0) > 2 * (alone.corrected.se or 0) > 0
    for unknown in (["c"] * 100, [None] * 100):
        lacking = corrected_mean(LABELLED * 10, REST * 10, (unknown, ["c"] * 300))
        assert lacking.people is not None
        assert (lacking.people.se, lacking.people.interval) == (None, (None, None))


def test_few_labels_leave_the_peoples_mean() -> None:
    """Below 20 labelled samples, without labels, and with all labelled, the judge is not used; the reason is said."""
    few = corrected_mean(LABELLED, REST)
    assert (few.corrected, few.method, few.best) == (None, "people only", few.people)
    assert few.why_not_corrected == "10 labelled samples; the judge's scores are used from 20 on"
    nobody = corrected_mean([], REST)
    assert (nobody.best, nobody.method) == (None, None)
    assert nobody.why_not_corrected == "no answer that was drawn at random has a score of a person"
    assert corrected_mean(LABELLED * 2, []).why_not_corrected == (
        "of samples that are not labelled 0 is left, and it takes 2"
    )
    assert corrected_mean(LABELLED[:1], REST).people == Estimate(4, None, 0.0, 1)


def test_enough_labels_take_the_judge_in() -> None:
    """From 20 on; the interval is Student's t with one degree less than labelled samples."""
    found = corrected_mean(LABELLED * 2, REST)
    assert found.method == "PPI++"
    assert found.corrected is not None
    assert found.best is found.corrected
    assert found.corrected.n_labelled == FEWEST_LABELLED
    assert found.corrected.se is not None
    assert found.corrected.interval == t_interval(found.corrected.mean, found.corrected.se, FEWEST_LABELLED)


def test_a_judge_that_says_nothing_is_not_used() -> None:
    """One that gives all the same, or the opposite of people, has no weight: what is left is people's own mean."""
    flat = ppi([(y, 3.0) for y in PEOPLE], [3.0] * 30)
    contrary = ppi([(y, 6.0 - y) for y in PEOPLE], REST)
    for found in (flat, contrary):
        assert found.judge_weight == 0
        assert found.mean == pytest.approx(fmean(PEOPLE))


def test_it_is_right_on_average_and_narrower_than_people_alone() -> None:
    """Over many draws the mean is that of people, of whom a biased judge knows much; the interval holds it in 95 %."""
    random = np.random.default_rng(5)
    truth = random.integers(1, 6, size=400).astype(float)
    judge = np.clip(truth + random.integers(0, 2, size=400), 1, 5)
    means, held, widths = [], 0, []
    for _ in range(300):
        order = random.permutation(400)
        drawn, rest = order[:40], order[40:]
        found = corrected_mean(list(zip(truth[drawn], judge[drawn], strict=True)), list(judge[rest]))
        assert found.corrected is not None
        assert found.people is not None
        low, high = found.corrected.interval
        means.append(found.corrected.mean)
        held += low is not None and high is not None and low <= truth.mean() <= high
        widths.append(np.subtract(*found.corrected.interval) / np.subtract(*found.people.interval))
    assert fmean(means) == pytest.approx(truth.mean(), abs=0.02)
    assert held >= 275
    assert fmean(widths) < 0.6
