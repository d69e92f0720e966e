"""Properties of `aggregate` and `comparison` events: the specification's examples, and why a null is null."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from keval import projections
from keval.stats.aggregates import aggregate
from keval.stats.statistics import AGGREGATE
from tests.aggregated import bodies, example, scored
from tests.builders import (
    failure_event,
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    write_log,
)

pytestmark = pytest.mark.slow  # each test makes the tables of a log


def test_the_worked_example_of_two_conditions(tmp_path: Path) -> None:
    """Unbalanced repetitions and judgments: the sample is the unit in mean, spread and interval."""
    a, b, comparison = bodies(tmp_path, example())
    assert (a["condition"], a["n_samples"], a["n_responses"], a["n_judgments"]) == ("A", 6, 17, 33)
    assert (a["planned"], a["scored"], a["not_done"]) == (18, 17, 1)
    names = ("mean", "sd_between_samples", "se", "ci_lower", "ci_upper", "sd_within_sample")
    assert [a[name] for name in names] == pytest.approx(
        [3.402778, 1.041389, 0.425145, 2.309907, 4.495648, 0.533002], abs=1e-6
    )
    assert [b[name] for name in names] == pytest.approx(
        [3.777778, 0.975629, 0.398299, 2.753918, 4.801638, 0.333333], abs=1e-6
    )
    assert a["var_between_samples"] == pytest.approx(a["sd_between_samples"] ** 2)
    assert a["mean"] == a["mean_complete_case"]
    assert comparison["condition"] == "B"
    differences = ("difference", "sd_difference", "se", "ci_lower", "ci_upper")
    assert [comparison[name] for name in differences] == pytest.approx(
        [0.375, 0.245798, 0.100347, 0.117051, 0.632949], abs=1e-6
    )
    counts = ("n_paired", "n_dropped", "wins", "ties", "losses")
    assert [comparison[name] for name in counts] == [6, 0, 5, 1, 0]
    assert (comparison["p"], comparison["p_smallest"], comparison["n_differing"]) == (0.0625, 0.0625, 5)
    tested = {
        "p_t": 0.013473, "d_z": 1.525643, "g_z": 1.284752, "correlation": 0.972396, "se_unpaired": 0.582572,
        "rank_biserial": 1.0, "failure_rate_difference": 0.0,
    }  # fmt: skip
    assert {name: comparison[name] for name in tested} == pytest.approx(tested, abs=1e-6)
    assert comparison["se"] ** 2 == pytest.approx(
        a["se"] ** 2 + b["se"] ** 2 - 2 * comparison["correlation"] * a["se"] * b["se"]
    )
    assert (comparison["conclusion"], comparison["qualification"]) == ("cannot tell", None)
    assert comparison["reasons"]["conclusion"].startswith("answers not measured or not done: A 6 %")


def test_the_samples_of_the_worked_example(tmp_path: Path) -> None:
    """Each sample has its mean and its own SD within samples, and no spread between samples."""
    found = [body for body in bodies(tmp_path, example(), ["sample"]) if body["condition"] == "A"]
    assert [body["sample_id"] for body in found] == ["s1", "s2", "s3", "s4", "s5", "s6"]
    means = [4.333333, 2.5, 4.666667, 2.0, 3.75, 3.166667]
    assert [body["mean"] for body in found] == pytest.approx(means, abs=1e-6)
    deviations = [0.288675, 0.5, 0.57735, 0.5, 0.353553, 0.763763]
    assert [body["sd_within_sample"] for body in found] == pytest.approx(deviations, abs=1e-6)
    assert [body["planned"] for body in found] == [3] * 6
    assert [body["not_done"] for body in found] == [0, 0, 0, 0, 1, 0]
    for body in found:
        assert body["se"] is None
        assert body["reasons"]["se"] == body["reasons"]["ci_lower"] == "one sample"


@pytest.mark.parametrize(
    ("kind", "mean", "lower", "upper", "agent_failed"),
    [("timeout", 3.7, 3.7, 3.7, 2), ("infra_error", 4.375, 3.7, 4.5, 0)],
)
def test_the_example_of_missing_data(  # noqa: PLR0917 - the columns of the example
    tmp_path: Path, kind: str, mean: float, lower: float, upper: float, agent_failed: int
) -> None:
    """Ten planned, eight scored: the agent's failures are the minimum, what was not measured only widens the bounds."""
    events = [run_event(["baseline"], samples=10), *scored("baseline", (5, 4, 5, 4, 3, 5, 4, 5))]
    events += [failure_event(response_event(f"lost{n}"), kind) for n in (1, 2)]
    (found,) = bodies(tmp_path, events)
    assert (found["planned"], found["scored"], found["not_done"]) == (10, 8, 0)
    assert (found["agent_failed"], found["not_measured"]) == (agent_failed, 2 - agent_failed)
    assert (found["mean"], found["mean_complete_case"]) == (mean, 4.375)
    assert (found["mean_lower"], found["mean_upper"]) == (lower, upper)
    assert found["failed"] == {kind: 2}
    assert found["n_samples"] == 8 + agent_failed


def test_a_difference_has_the_bounds_of_what_is_missing(tmp_path: Path) -> None:
    """With the example's condition beside one that was measured whole; without anything missing there are none."""
    whole = [run_event(["baseline", "with_docs"], samples=10), *scored("baseline", (2, 3) * 5)]
    lacking = [failure_event(response_event(f"q{n}", "with_docs"), "infra_error") for n in (8, 9)]
    *_, found = bodies(tmp_path, [*whole, *scored("with_docs", (5, 4, 5, 4, 3, 5, 4, 5)), *lacking])
    assert [found[name] for name in ("difference_lower", "difference_upper")] == pytest.approx([1.2, 2.0])
    assert (found["n_paired"], found["conclusion"]) == (8, "higher")
    *_, complete = bodies(tmp_path, [*whole, *scored("with_docs", (5, 4, 5, 4, 3, 5, 4, 5, 4, 5))])
    assert complete["difference_lower"] is None
    assert complete["reasons"]["difference_upper"] == "no answer is missing"


def test_the_spread_includes_the_agents_failures(tmp_path: Path) -> None:
    """SDs are those of the headline: a failed repetition is a repetition that scored the minimum."""
    first, second = response_event(repetition=1), response_event(repetition=2)
    events = [first, judgment_event(first, 5), failure_event(second)]
    (found,) = bodies(tmp_path, events, ["sample"])
    assert found["mean"] == 3.0
    assert found["var_within_sample"] == 8.0


def test_repetitions_are_pooled_over_samples_that_have_several(tmp_path: Path) -> None:
    """A sample with one repetition neither adds to the SD within samples nor makes it smaller."""
    events = scored("baseline", (1, 4))
    again = response_event("q0", repetition=2)
    (found,) = bodies(tmp_path, [*events, again, judgment_event(again, 3)])
    assert found["var_within_sample"] == 2.0


def test_order_is_that_of_the_config(tmp_path: Path) -> None:
    """Conditions as in the config, metrics as the judge lists them, a condition before its samples, q2 before q10."""
    metrics = [{"name": name, "min": 1, "max": 5} for name in ("zeal", "accuracy")]
    events = [run_event(("b", "a"), judges=[judge_entry(metrics)])]
    for condition, sample in (("a", "q10"), ("a", "q2"), ("b", "q1"), ("a", "q1")):
        response = response_event(sample, condition)
        events += [response, judgment_event(response, {"accuracy": 1, "zeal": 2})]
    found = bodies(tmp_path, events, ["condition", "sample"])
    expected = [
        *(("b", metric, sample) for metric in ("zeal", "accuracy") for sample in (None, "q1")),
        *(("a", metric, sample) for metric in ("zeal", "accuracy") for sample in (None, "q1", "q2", "q10")),
    ]
    assert [(body["condition"], body["metric"], body["sample_id"]) for body in found[:-2]] == expected
    assert [(body["type"], body["metric"]) for body in found[-2:]] == [
        ("comparison", "zeal"),
        ("comparison", "accuracy"),
    ]


def test_levels_choose_the_events(tmp_path: Path) -> None:
    """Comparisons are of conditions; a level that was not asked for is not there."""
    events = scored("baseline", (1, 2)) + scored("with_docs", (3, 4))
    both = bodies(tmp_path, events, ["sample", "condition"])
    conditions, samples = bodies(tmp_path, events, ["condition"]), bodies(tmp_path, events, ["sample"])
    assert [body["type"] for body in conditions] == ["aggregate", "aggregate", "comparison"]
    assert {body["level"] for body in samples} == {"sample"}
    assert len(both) == len(conditions) + len(samples)
    assert bodies(tmp_path, events, []) == []


def test_the_caller_may_ask_between_two_bodies(tmp_path: Path) -> None:
    """Bodies come one at a time, and another query does not end them."""
    with projections.connect([write_log(tmp_path / "log.jsonl", scored("baseline", range(1, 6)))]) as connection:
        found = []
        for body in aggregate(connection, levels=["condition", "sample"]):
            connection.execute("select count(*) from responses").fetchall()
            found.append(body["level"])
    assert found == ["condition", *["sample"] * 5]


def test_an_empty_log_has_no_aggregates(tmp_path: Path) -> None:
    """Nothing is made of nothing."""
    assert bodies(tmp_path, [], ["condition", "sample"]) == []


def test_a_plan_without_answers_has_no_numbers(tmp_path: Path) -> None:
    """Every number of a condition that was only planned is null, with its reason; its bounds are the scale."""
    first, second, comparison = bodies(tmp_path, [run_event()])
    asked = {name: each for name, each in AGGREGATE.items() if not each.of_combined and not each.asked_by}
    nullable = {name for name, each in asked.items() if each.why_null is not None}
    for body in (first, second):
        assert (body["planned"], body["not_done"], body["n_samples"]) == (2, 2, 0)
        assert (body["mean_lower"], body["mean_upper"]) == (1.0, 5.0)
        missing = {name for name, value in body.items() if value is None} - {"sample_id"}
        assert body["reasons"] == dict.fromkeys(missing, "no judgments")
        assert missing == nullable - {"planned", "not_done", "mean_lower", "mean_upper"}
    assert comparison["n_paired"] == 0
    assert comparison["difference"] is None
    unpaired = {name for name, why in comparison["reasons"].items() if "under both conditions" in why}
    assert unpaired >= {
        "difference",
        "se",
        "ci_lower",
        "p",
        "p_holm",
        "p_t",
        "d_z",
        "win_rate",
        "correlation",
        "conclusion",
    }
    assert {name for name, value in comparison.items() if value is None} == {
        *comparison["reasons"],
        "qualification",
    } - {"conclusion"}


def test_without_a_run_the_plan_is_unknown(tmp_path: Path) -> None:
    """Unknown is null, not 0."""
    (found,) = bodies(tmp_path, scored("baseline", (1, 2)))
    assert found["planned"] is found["not_done"] is None
    assert found["reasons"]["planned"] == found["reasons"]["not_done"] == "no run event says what was planned"
    assert found["reasons"]["sd_within_sample"] == "one repetition"


def test_a_condition_that_only_failed_has_no_completed_mean(tmp_path: Path) -> None:
    """The headline is the minimum; of what was completed there is nothing to average."""
    (found,) = bodies(tmp_path, [run_event(["baseline"]), failure_event(response_event())])
    assert (found["mean"], found["mean_complete_case"]) == (1.0, None)
    assert found["reasons"]["mean_complete_case"] == "no judgments"


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ((3,), "one sample"),
        ((1, 5, 2, 4), "fewer than 5 samples: no interval is shown"),
        ((3, 3), "all samples have the same mean"),
        ((3,) * 6, "all samples have the same mean"),
    ],
)
def test_a_mean_without_an_interval_says_why(tmp_path: Path, scores: Sequence[float], reason: str) -> None:
    """Few samples, or samples that do not differ, give no interval, least of all one of width 0."""
    (found,) = bodies(tmp_path, scored("baseline", scores))
    assert found["ci_lower"] is found["ci_upper"] is None
    assert found["reasons"]["ci_lower"] == found["reasons"]["ci_upper"] == reason


@pytest.mark.parametrize(
    ("scores", "difference", "reason"),
    [
        ((3,), 1.0, "one paired sample"),
        ((1, 3, 2, 4), 0.5, "fewer than 5 samples: no interval is shown"),
        ((2, 2, 2, 2, 2, 2), 0.0, "no sample differs"),
        ((3, 3, 3, 3, 3, 3), 1.0, "every sample differs by the same amount"),
    ],
)
def test_a_difference_without_an_interval_says_why(
    tmp_path: Path, scores: Sequence[float], difference: float, reason: str
) -> None:
    """Equal differences say nothing of how far the next one could be off."""
    events = [run_event(), *scored("baseline", [2] * len(scores)), *scored("with_docs", scores)]
    found = bodies(tmp_path, events)[-1]
    assert found["difference"] == difference
    assert found["ci_lower"] is found["ci_upper"] is None
    assert found["reasons"]["ci_lower"] == found["reasons"]["ci_upper"] == reason


def test_floats_have_twelve_significant_digits(tmp_path: Path) -> None:
    """What is stored does not depend on the order in which threads add up, and there is no negative zero."""
    found = bodies(tmp_path, [*scored("baseline", (1, 1, 2)), *scored("with_docs", (2, 1, 1))], ["condition", "sample"])
    floats = [value for body in found for value in body.values() if isinstance(value, float)]
    assert all(value == float(f"{value:.12g}") for value in floats)
    assert 1.33333333333 in floats
    assert not any(str(value) == "-0.0" for value in floats)


def test_the_ends_of_a_scale_are_as_they_were_given(tmp_path: Path) -> None:
    """Two ends that differ in the thirteenth digit stay two: rounded they would be no scale."""
    low, high = 1e12, 1e12 + 1
    scale = {"reasoning": None, "min": low, "max": high, "passed": None}
    events = scored("baseline", (low, high))
    for event in events:
        for score in event.get("scores", {}).values():
            score.update(scale)
    (body,) = bodies(tmp_path, events)
    assert (body["min"], body["max"]) == (low, high)
