from __future__ import annotations

from pathlib import Path

import pytest

from keval.ids import JsonObject
from keval.stats import reasons
from tests.aggregated import bodies
from tests.builders import failure_event, judgment_event, response_event


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"n_samples": 0, "se": None}, "no judgments"),
        ({"n_samples": 1, "se": None}, "one sample"),
        ({"n_samples": 1}, "one sample"),
        ({"n_samples": 4, "se": 0.5}, "fewer than 5 samples: no interval is shown"),
        ({"n_samples": 9, "se": 0.0}, "all samples have the same mean"),
    ],
)
def test_a_mean_without_an_interval_says_what_it_lacks(row: JsonObject, why: str) -> None:
    """First comes what is missing altogether, then too few samples, then that they do not differ."""
    assert reasons.no_interval(row) == why


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"not_applicable": 0}, "no judgments"),
        ({"not_applicable": 4}, "the metric applied to no answer that was judged"),
    ],
)
def test_a_metric_that_applies_to_nothing_was_judged(row: JsonObject, why: str) -> None:
    """Who reads that there are no judgments would make them, and they are there."""
    assert reasons.no_score(row) == why


CLUSTERED = {"n_clusters": 1, "se_clustered": None}


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"n_paired": 0, "se": None, "difference": None}, "no sample has a value under both conditions"),
        ({"n_paired": 1, "se": None, "difference": 1.0}, "one paired sample"),
        ({"n_paired": 4, "se": 0.5, "difference": 1.0}, "fewer than 5 samples: no interval is shown"),
        ({"n_paired": 9, "se": 0.0, "difference": 1.0}, "every sample differs by the same amount"),
        ({"n_paired": 9, "se": 0.0, "difference": 0.0}, "no sample differs"),
        ({"n_paired": 9, "se": 0.5} | CLUSTERED | {"unclustered": 2}, "samples without a cluster: 2"),
        ({"n_paired": 9, "se": 0.0} | CLUSTERED | {"unclustered": 0}, "one cluster"),
    ],
)
def test_a_difference_without_an_interval_says_what_it_lacks(row: JsonObject, why: str) -> None:
    """Equal differences and no difference at all are two reasons."""
    assert reasons.no_interval_of_pairs(row) == why


def test_a_standardized_difference_lacks_no_cluster() -> None:
    """It has none where all differences are the same, whatever belongs together."""
    row = {"n_paired": 9, "se": 0.0, "difference": 1.0, "unclustered": 0} | CLUSTERED
    assert reasons.no_spread_of_pairs(row) == "every sample differs by the same amount"


@pytest.mark.parametrize(("n_samples", "why"), [(0, "no judgments"), (2, "one repetition")])
def test_a_spread_within_samples_says_what_it_lacks(n_samples: int, why: str) -> None:
    """Without any score it is the score that is missing, not a second repetition."""
    assert reasons.no_second_repetition({"n_samples": n_samples}) == why


@pytest.mark.slow
def test_a_variance_lacks_what_was_scored_and_not_what_failed(tmp_path: Path) -> None:
    """Samples that the agent failed have a mean and no answer: beside them two answers to one sample are still two."""
    answers = [response_event("q1", repetition=repetition) for repetition in (1, 2)]
    events = [*answers, *(judgment_event(answer, 3) for answer in answers)]
    events += [failure_event(response_event(name), "timeout") for name in ("q2", "q3")]
    (found,) = bodies(tmp_path, events)
    assert (found["n_samples"], found["n_responses"], found["ms_response"]) == (3, 2, 0)
    assert found["reasons"]["var_response"] == "one judgment per answer"
    assert found["reasons"]["var_sample"] == "one sample has a score"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"level": "condition", "current": True}, "no run event says what was planned"),
        ({"level": "condition", "current": False}, "the newest run does not plan it"),
        ({"level": "group", "current": True}, "no plan says which samples of the group there are"),
    ],
)
def test_a_plan_is_missing_for_a_reason_of_its_own(row: JsonObject, why: str) -> None:
    """That an earlier run planned a condition is no number of the plan that counts."""
    assert reasons.no_plan(row) == why
