"""Properties of intervals by resampling."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from keval.ids import JsonObject
from keval.stats import bootstrap
from keval.stats.asked import Asked
from keval.stats.bootstrap import mean_interval
from tests.aggregated import bodies, example, scored
from tests.builders import failure_event, judge_entry, judgment_event, response_event, run_event

VALUES = [1.0, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]


def test_the_same_seed_gives_the_same_interval() -> None:
    """It holds the mean, is longer on the side of the tail, and another seed moves it a little."""
    found = bootstrap.mean_interval(VALUES, None, 7)
    assert found == bootstrap.mean_interval(VALUES, None, 7) != bootstrap.mean_interval(VALUES, None, 8)
    lower, upper = found
    assert lower is not None
    assert upper is not None
    mean = sum(VALUES) / len(VALUES)
    assert mean - lower > upper - mean > 0


@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_does_not_depend_on_float_noise(*, clustered: bool) -> None:
    """Of means that are alike but for their last bit: in another unit, or added up in another order, it is the same."""
    draw = random.Random(7)  # noqa: S311 - data of a test
    scores = [[round(draw.gauss(0, 1) + number % 5, 1) for _ in range(3)] for number in range(24)]
    clusters = [f"c{number}" for number in range(24)] if clustered else None
    lower, upper = mean_interval([(one + two + three) / 3 for one, two, three in scores], clusters, 0)
    in_another_order = mean_interval([(three + two + one) / 3 for one, two, three in scores], clusters, 0)
    in_another_unit = mean_interval([2.5 * (one + two + three) / 3 for one, two, three in scores], clusters, 0)
    assert lower is not None
    assert upper is not None
    assert in_another_order == pytest.approx((lower, upper), abs=1e-9)
    assert in_another_unit == pytest.approx((2.5 * lower, 2.5 * upper), abs=1e-9)


def test_clusters_are_resampled_whole() -> None:
    """Samples that belong together say less than as many that do not."""
    together = [f"c{place // 4}" for place in range(80)]
    values = [float(place // 4 % 5) for place in range(80)]
    alone, clustered = bootstrap.mean_interval(values, None, 1), bootstrap.mean_interval(values, together, 1)
    assert clustered[1] - clustered[0] > 1.5 * (alone[1] - alone[0])  # type: ignore[operator]  # both have one


def test_values_that_are_all_alike_have_no_interval() -> None:
    """Whoever draws the same value again and again learns nothing."""
    assert bootstrap.mean_interval([3.0] * 20, None, 1) == (None, None)


def test_the_intervals_stand_in_the_event(tmp_path: Path) -> None:
    """They hold the estimates that SQL makes of the same samples: both know one definition of a component."""
    events = []
    for number in range(24):
        for repetition in (1, 2):
            response = response_event(f"q{number:02}", repetition=repetition)
            scores = (1 + (number * 7 + repetition) % 5, 1 + (number * 7 + repetition * repetition) % 5)
            events += [response, *(judgment_event(response, score, replicate=n) for n, score in enumerate(scores, 1))]
    (found,) = bodies(tmp_path, events, asked=Asked(bootstrap=True, seed=3))
    for name, lower, upper in (
        ("mean", "ci_bca_lower", "ci_bca_upper"),
        ("var_sample", "var_sample_lower", "var_sample_upper"),
        ("var_response", "var_response_lower", "var_response_upper"),
    ):
        assert found[lower] < found[name] < found[upper]
    assert found["seed"] == 3


def test_what_has_no_estimate_has_no_interval_for_the_same_reason(tmp_path: Path) -> None:
    """No draw of samples makes two answers of one."""
    scores = tuple(1 + number % 5 for number in range(24))
    (found,) = bodies(tmp_path, scored("baseline", scores), asked=Asked(bootstrap=True))
    assert found["reasons"]["var_response_lower"] == found["reasons"]["var_response"] == "one response per sample"


@pytest.mark.slow
@pytest.mark.parametrize("level", ["condition", "sample"])
def test_every_level_has_its_intervals_or_their_reasons(tmp_path: Path, level: str) -> None:
    """A sample by itself is nothing to draw from."""
    found = bodies(tmp_path, example(), levels=(level,), asked=Asked(bootstrap=True))
    for body in (each for each in found if each["type"] == "aggregate"):
        lacking = {name for name in body if name.endswith("_lower") and body[name] is None}
        assert lacking <= body["reasons"].keys()
        assert level == "condition" or body["reasons"]["var_sample_lower"] == "one sample"


def test_too_few_samples_are_not_resampled(tmp_path: Path) -> None:
    """Below 20 the interval would be too short; the event says so."""
    (found,) = bodies(tmp_path, scored("baseline", (1, 2, 3, 4, 5)), asked=Asked(bootstrap=True))
    reason = "fewer than 20 samples: resampled intervals would be too short"
    assert (found["ci_bca_lower"], found["reasons"]["ci_bca_lower"]) == (None, reason)


def test_what_is_the_same_in_each_sample_is_the_same_in_each_draw() -> None:
    """Answers of all samples that vary alike leave no doubt of their variance; that between samples has a range."""
    rows = [
        {"weight": 4.0, "weight_squares": 8.0, "weighted_mean": mean, "scored": 2, "repeated": 2,
         "squares_judgments": 1.0, "squares_responses": 0.5}
        for mean in (1.0, 2.0, 3.0, 4.0, 5.0) for _ in range(4)
    ]  # fmt: skip
    between, within = bootstrap.component_intervals(rows, 1)
    assert within == pytest.approx(((0.5 - 0.5) / 2,) * 2)
    assert between[0] is not None
    assert 0 < between[0] < between[1]


def test_components_of_few_samples_with_a_score_say_so(tmp_path: Path) -> None:
    """Samples that the agent failed have a mean; what is resampled for the variance are those with a score."""
    events: list[JsonObject] = []
    for number in range(24):
        for repetition in (1, 2):
            response = response_event(f"q{number:02}", repetition=repetition)
            was_scored = [response, judgment_event(response, 1 + (number + repetition) % 5)]
            events += was_scored if number < 15 else [failure_event(response, "timeout")]
    (found,) = bodies(tmp_path, events, asked=Asked(bootstrap=True))
    assert found["n_samples"] == 24
    assert found["ci_bca_lower"] is not None
    assert found["var_sample_lower"] is None
    assert found["reasons"]["var_sample_lower"].startswith("fewer than 20 samples with a score")


def test_pairs_that_nobody_was_asked_about_are_in_no_component(tmp_path: Path) -> None:
    """Where the baseline failed, an answer counts and has no judgment: draws leave it out as the estimate does."""
    judge = judge_entry() | {"type": "pairwise"}
    events: list[JsonObject] = [run_event(samples=24, repetitions=2, judges=[judge])]
    for number in range(24):
        for repetition in (1, 2):
            of_baseline, response = (
                response_event(f"q{number:02}", name, repetition) for name in ("baseline", "with_docs")
            )
            is_won = repetition == 2 and number % 2 == 0
            events += [failure_event(of_baseline) if is_won else of_baseline, response]
            scores = () if is_won else (1 + number % 3 + repetition % 2, 2 + number % 3 + repetition % 2)
            events += [judgment_event(response, score, replicate=n) for n, score in enumerate(scores, 1)]
    found = next(
        body for body in bodies(tmp_path, events, asked=Asked(bootstrap=True)) if body["condition"] == "with_docs"
    )
    assert (found["scored"], found["n_responses"]) == (48, 36)
    assert found["var_response_lower"] <= found["var_response"] <= found["var_response_upper"]
