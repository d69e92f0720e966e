"""Properties of what is read from aggregates: conclusions, reversals and warnings."""

from __future__ import annotations

from typing import Any

import pytest

from keval.ids import JsonObject
from keval.reports.conclusions import metric_tables, reversals, small_numbers, statistic, within
from keval.reports.read_with_care import read_with_care


def aggregate(condition: str, **changes: object) -> JsonObject:
    """Return the body of an aggregate event: 30 samples, 3 repetitions, all scored."""
    body: dict[str, Any] = {
        "type": "aggregate",
        "level": "condition",
        "condition": condition,
        "condition_id": f"{condition}-id",
        "agent_id": "agent-id",
        "judge": "rubric",
        "judge_id": "judge-id",
        "metric": "completeness",
        "sample_id": None,
        "min": 1,
        "max": 5,
        "current": True,
        "mock": False,
        "planned": 90,
        "scored": 90,
        "agent_failed": 0,
        "not_measured": 0,
        "not_done": 0,
        "failed": {},
        "n_samples": 30,
        "n_responses": 90,
        "n_judgments": 180,
        "mean": 3.0,
        "mean_complete_case": 3.0,
        "mean_lower": 3.0,
        "mean_upper": 3.0,
        "var_between_samples": 1.0,
        "sd_between_samples": 1.0,
        "var_within_sample": 0.25,
        "sd_within_sample": 0.5,
        "se": 0.18,
        "ci_lower": 2.6,
        "ci_upper": 3.4,
        "ci_level": 0.95,
        "ci_method": "t",
        "reasons": {},
    }
    return {**body, **changes}


def comparison(condition: str, lower: float | None, upper: float | None, **changes: object) -> JsonObject:
    """Return the body of a comparison event of a condition with `baseline`."""
    body: dict[str, Any] = {
        "type": "comparison",
        "baseline": "baseline",
        "condition": condition,
        "baseline_id": "baseline-id",
        "condition_id": f"{condition}-id",
        "agent_id": "agent-id",
        "judge": "rubric",
        "judge_id": "judge-id",
        "metric": "completeness",
        "current": True,
        "mock": False,
        "n_paired": 30,
        "n_dropped": 0,
        "difference": None if lower is None or upper is None else (lower + upper) / 2,
        "sd_difference": 0.5,
        "se": 0.1,
        "ci_lower": lower,
        "ci_upper": upper,
        "ci_level": 0.95,
        "ci_method": "t",
        "wins": 20,
        "ties": 5,
        "losses": 5,
        "reasons": {},
    }
    return {**body, **changes}


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


def test_a_ranking_that_failures_turn_around_is_said() -> None:
    """A is above B on completed answers only, B above A with A's failures counted; all metrics in one sentence."""
    bodies = [
        {**body, "metric": metric}
        for metric in ("completeness", "tone")
        for body in (
            aggregate("baseline", mean=3.0, mean_complete_case=4.5, agent_failed=30, scored=60),
            aggregate("b", mean=4.0, mean_complete_case=4.0),
            comparison("b", 0.1, 0.5),
        )
    ]
    (warning,) = reversals(metric_tables(bodies))
    assert warning.text == (
        "The order depends on how failures count: with them b is above baseline, among completed answers baseline is "
        "above b (rubric/completeness 4.00 and 3.00, of completed answers 4.00 and 4.50; rubric/tone 4.00 and 3.00, "
        "of completed answers 4.00 and 4.50)."
    )


def test_of_a_judge_that_has_not_judged_all_it_is_said_why_failures_weigh_so_much() -> None:
    """A failure has its value at once, an answer only when it is judged."""
    bodies = [
        aggregate("baseline", mean=3.0, mean_complete_case=4.5, agent_failed=30, scored=60, not_done=1200),
        aggregate("b", mean=4.0, mean_complete_case=4.0),
        comparison("b", 0.1, 0.5),
    ]
    (warning,) = reversals(metric_tables(bodies))
    assert "4.00 and 4.50; of 1,200 there is no score yet, and failures count already)." in warning.text


@pytest.mark.parametrize(("completed_a", "completed_b"), [(3.1, 4.0), (4.004, 4.0), (4.0, 4.0), (None, 4.0)])
def test_a_ranking_that_stays_is_not_mentioned(completed_a: float | None, completed_b: float) -> None:
    """The same order, one that no printed digit shows, a tie and an unknown mean are no reversal."""
    bodies = [
        aggregate("baseline", mean=3.0, mean_complete_case=completed_a),
        aggregate("b", mean=4.0, mean_complete_case=completed_b),
        comparison("b", 0.1, 0.5),
    ]
    assert list(reversals(metric_tables(bodies))) == []


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        ({"n_samples": 4}, "fewest_samples", "no interval shown; descriptive only (a, 4 samples)"),
        ({"n_samples": 5}, "few_samples", "wide, approximate (a, 5 samples)"),
        ({"n_samples": 29}, "few_samples", "wide, approximate (a, 29 samples)"),
        ({"sd_within_sample": None}, "one_repetition", "run-to-run variation not measured (a)"),
        ({"n_judgments": 90}, "one_judgment", "judge variation not measured (rubric)"),
        ({"n_clusters": 9, "se_clustered": 0.2}, "few_clusters", "are unreliable (a, 9 clusters)"),
        ({"n_clusters": 1, "se_clustered": None}, "few_clusters", "(a, 1 cluster)"),
        ({"n_clusters": 10, "se_clustered": 0.1}, "clusters_vary_less", "over samples (a)"),
        ({"n_clusters": 10, "se_clustered": 0.0}, "clusters_vary_less", "over samples (a)"),
    ],
)
def test_small_numbers_are_named(changes: dict[str, float | None], code: str, says: str) -> None:
    """Each threshold of the specification has its sentence, once for all metrics."""
    bodies = [aggregate("a", **changes), aggregate("a", metric="other", **changes)]
    (warning,) = small_numbers(metric_tables(bodies))
    assert warning.code == code
    assert warning.text.endswith(says)


@pytest.mark.parametrize(("pairs", "code"), [(4, "fewest_samples"), (5, "few_samples"), (29, "few_samples")])
def test_a_difference_of_few_samples_is_named_where_its_conditions_have_more(pairs: int, code: str) -> None:
    """Conditions that have few samples in common are compared on these alone."""
    bodies = [aggregate("baseline"), aggregate("a"), comparison("a", 0.1, 0.5, n_paired=pairs)]
    (warning,) = small_numbers(metric_tables(bodies))
    assert (warning.code, warning.text.partition(" (")[2]) == (code, f"a minus baseline, {pairs} samples)")
    for n in (pairs, pairs + 40):
        few = [aggregate("baseline", n_samples=pairs), aggregate("a", n_samples=n), bodies[2]]
        assert "minus" not in "".join(each.text for each in small_numbers(metric_tables(few)))
    assert f"{pairs} samples, so " in str(read_with_care(metric_tables(bodies), [warning]))


def test_enough_of_everything_needs_no_warning() -> None:
    """30 samples, 3 repetitions and 2 judgments are not warned about; nothing measured neither."""
    nothing = aggregate("b", n_samples=0, n_responses=0, n_judgments=0, scored=0, mean=None)
    assert list(small_numbers(metric_tables([aggregate("a"), nothing]))) == []


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
