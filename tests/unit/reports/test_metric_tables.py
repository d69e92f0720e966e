"""Properties of what is read from aggregates."""

from __future__ import annotations

import pytest

from keval.reports.metric_tables import metric_tables, statistic, within
from tests.bodies import aggregate, comparison


def test_what_an_event_concludes_is_shown() -> None:
    """A report never concludes by itself: the event's words stand, whatever its numbers."""
    said = {"conclusion": "borderline", "qualification": "so far", "reasons": {}}
    (table,) = metric_tables([aggregate("baseline"), aggregate("docs"), comparison("docs", 0.1, 0.5, **said)])
    assert (table.differences[0].conclusion, table.differences[0].qualification) == ("borderline", "so far")


def test_an_older_event_is_concluded_from() -> None:
    """Without a conclusion, which older versions did not write, the interval decides, and what is missing."""
    lacking = aggregate("docs", scored=81, not_measured=9, mean=3.5, mean_lower=2.9, mean_upper=3.7)
    found = [
        metric_tables([aggregate("baseline"), docs, comparison("docs", 0.1, 0.9)])[0].differences[0]
        for docs in (aggregate("docs"), lacking)
    ]
    assert [each.conclusion for each in found] == ["higher", "cannot tell"]
    assert found[1].reasons["conclusion"] == (
        "answers not measured or not done: docs 10 %; they could change the result"
    )


def test_four_paired_samples_show_no_interval() -> None:
    """Below 5 samples an interval that was computed is left out, and with it the conclusion."""
    (table,) = metric_tables([aggregate("baseline"), aggregate("docs"), comparison("docs", 0.1, 0.5, n_paired=4)])
    (found,) = table.differences
    assert (found.conclusion, found.ci_lower, found.ci_upper) == ("cannot tell", None, None)
    assert "fewer than 5 samples" in found.reasons["conclusion"]


def test_four_samples_show_a_mean_without_an_interval() -> None:
    """The mean stays; the interval is None with its reason."""
    (table,) = metric_tables([aggregate("baseline", n_samples=4)])
    (found,) = table.scores
    assert (found.mean, found.ci_lower, found.ci_upper) == (3.0, None, None)
    assert found.reasons["ci_lower"] == "fewer than 5 samples"


def test_only_current_bodies_of_whole_conditions_count() -> None:
    """Older versions of a condition and single samples do not stand beside the current ones."""
    bodies = [
        aggregate("baseline", condition_id="old", current=False),
        aggregate("baseline"),
        aggregate("baseline", level="sample", sample_id="1"),
        comparison("docs", 0.1, 0.5, current=False),
    ]
    (table,) = metric_tables(bodies)
    assert [score.condition_id for score in table.scores] == ["baseline-id"]
    assert table.differences == ()


def test_the_last_of_equal_bodies_counts() -> None:
    """A log that was aggregated twice shows the newer numbers, once."""
    (table,) = metric_tables([aggregate("baseline", mean=1.0), aggregate("baseline", mean=2.0)])
    assert [score.mean for score in table.scores] == [2.0]


def test_conditions_stand_in_the_order_of_the_config() -> None:
    """The order is the user's; conditions that it does not name come last."""
    bodies = [aggregate(name) for name in ("c", "x", "a", "b")]
    (table,) = metric_tables(bodies, ["b", "a", "c"])
    assert [score.condition for score in table.scores] == ["b", "a", "c", "x"]


def test_each_judge_and_metric_has_its_own_table() -> None:
    """Two judges of one name are two judges, and no mean is taken over metrics."""
    bodies = [
        aggregate("a"),
        aggregate("a", metric="helpfulness_and_clarity"),
        aggregate("a", judge_id="other-judge-id"),
    ]
    found = [(table.judge_id, table.metric) for table in metric_tables(bodies)]
    assert found == [
        ("judge-id", "completeness"),
        ("judge-id", "helpfulness_and_clarity"),
        ("other-judge-id", "completeness"),
    ]


def test_statistics_that_nothing_is_concluded_from_are_kept_by_name() -> None:
    """What has no field of its own stands in `other_statistics`; an event that lacks it has null there."""
    older = aggregate("with_docs")
    del older["var_within_sample"]
    (table,) = metric_tables([aggregate("baseline"), older, comparison("with_docs", 0.1, 0.5)])
    assert [score.other_statistics["var_within_sample"] for score in table.scores] == [0.25, None]
    assert statistic(table.scores[0], "var_within_sample") == 0.25
    assert statistic(table.scores[0], "sd_within_sample") == 0.5
    assert statistic(table.differences[0], "wins") == comparison("with_docs", 0.1, 0.5)["wins"]


@pytest.mark.parametrize(
    ("lower", "upper", "shown"),
    [(0.5, 3.0, (1, 3.0)), (2.0, 5.5, (2.0, 5)), (2.0, 3.0, (2.0, 3.0)), (None, None, (None, None))],
)
def test_an_interval_of_a_mean_lies_within_the_scale(
    lower: float | None, upper: float | None, shown: tuple[float | None, float | None]
) -> None:
    """One of t may reach beyond it, where no mean can be; it is as wide as it was in what the event says."""
    (table,) = metric_tables([aggregate("a", ci_lower=lower, ci_upper=upper)])
    assert within(table, table.scores[0]) == shown
    assert (table.scores[0].ci_lower, table.scores[0].ci_upper) == (lower, upper)
