from __future__ import annotations

import pytest

from keval.reports.metric_tables import metric_tables
from keval.reports.number_warnings import reversals, small_numbers
from keval.reports.read_with_care import read_with_care
from tests.bodies import aggregate, comparison


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
