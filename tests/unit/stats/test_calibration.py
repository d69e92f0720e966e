from __future__ import annotations

import pytest

from keval.stats.calibration import Calibration, Labelled


def test_the_worked_example_of_the_specification() -> None:
    """60 passes, 40 failures; of 10 that were labelled 7 are valid, 2 are not, 1 is ambiguous: 68.9 % really pass."""
    found = Calibration(Labelled(60), Labelled(40, right=7, wrong=2, ambiguous=1))
    assert found.failures.share_right == pytest.approx(7 / 9)
    assert found.failures.wrong_bounds == (0.2, 0.3)
    assert found.pass_rate == 0.6
    assert found.corrected == pytest.approx(0.6889, abs=1e-4)
    assert found.assumes_passes


@pytest.mark.parametrize(("wrong", "corrected"), [(0, 0.70), (10, 0.75), (20, 0.80)])
def test_a_judge_that_became_stricter_hides_that_the_agent_became_better(wrong: int, corrected: float) -> None:
    """70, 65 and 60 % pass while 70, 75 and 80 % are right, when 0, 10 and 20 % are wrongly failed."""
    passes = 70 - wrong // 2
    found = Calibration(Labelled(passes), Labelled(100 - passes, right=100 - passes - wrong, wrong=wrong))
    assert found.corrected == pytest.approx(corrected)


def test_rates_of_the_judge_need_labels_of_both_kinds() -> None:
    """Sensitivity and specificity weigh labels by how many passes and failures there are; predictive values do not."""
    both = Calibration(Labelled(60, right=9, wrong=1), Labelled(40, right=8, wrong=2))
    assert both.corrected == pytest.approx(0.6 * 0.9 + 0.4 * 0.2)
    assert both.sensitivity == pytest.approx(0.54 / 0.62)
    assert both.specificity == pytest.approx(0.32 / 0.38)
    one = Calibration(Labelled(60), Labelled(40, right=8, wrong=2))
    assert (one.sensitivity, one.specificity) == (None, None)


def test_a_share_is_at_most_1() -> None:
    """Float noise would put it beside."""
    assert Calibration(Labelled(1, 1), Labelled(4, 3, 1)).specificity == 1


def test_what_is_not_known_is_null_with_a_reason() -> None:
    """Without a decided label of a failure, or without a verdict, there is no corrected rate."""
    unlabelled = Calibration(Labelled(6, right=1), Labelled(4, ambiguous=3))
    assert (unlabelled.corrected, unlabelled.interval) == (None, (None, None))
    assert unlabelled.why_unknown == "no label decides about a failure"
    assert Calibration(Labelled(), Labelled()).why_unknown == "there is no verdict"
    assert Calibration(Labelled(5), Labelled()).why_unknown == "no label decides about a verdict"
    assert Labelled(5).interval == (None, None)
    assert Labelled(5).wrong_bounds == (None, None)


def test_the_interval_holds_the_rate_and_shrinks_with_labels() -> None:
    """Ten times the labels, a narrower interval; a judge without failures needs no label of one."""
    few = Calibration(Labelled(60, right=9, wrong=1), Labelled(40, right=8, wrong=2))
    many = Calibration(Labelled(60, right=90, wrong=10), Labelled(40, right=80, wrong=20))
    widths = []
    for found in (few, many):
        low, high = found.interval
        assert low is not None
        assert high is not None
        assert low < (found.corrected or 0) < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2
    assert Calibration(Labelled(10, right=5), Labelled()).corrected == 1


def test_labels_are_counted_by_what_they_say() -> None:
    """Right, wrong, and neither."""
    found = Labelled(9)
    for said in (True, True, False, None):
        found = found.with_label(said)
    assert found == Labelled(9, right=2, wrong=1, ambiguous=1)
