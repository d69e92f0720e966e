"""Properties of the numbers of a condition: variance components, clusters, intervals that fit, and what is null."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest
from scipy.stats import binomtest

from keval.ids import JsonObject
from keval.stats.asked import Asked
from tests.aggregated import bodies, example, scored
from tests.builders import failure_event, judge_entry, judge_failure_event, judgment_event, response_event, run_event

pytestmark = pytest.mark.slow  # each test makes the tables of a log

FULL = Asked(full=True)
CLUSTERS = {"s1": "a", "s3": "a", "s2": "b", "s4": "b", "s5": "c", "s6": "c"}


def clustered(events: Sequence[JsonObject], clusters: Mapping[str, str]) -> list[JsonObject]:
    """Return events whose samples belong to clusters, and whose config says so."""
    for event in events:
        if event["type"] == "run":
            event["config"] = {"name": "test", "dataset": {"cluster_key": "cluster"}}
        elif event.get("sample", {}).get("id") in clusters:
            event["sample"]["cluster"] = clusters[event["sample"]["id"]]
    return list(events)


def judged(response: JsonObject, score: float) -> list[JsonObject]:
    """Return a response and its judgment."""
    return [response, judgment_event(response, score)]


def passing(passes: Sequence[int], trials: int, *, lost: int = 0) -> list[JsonObject]:
    """Return samples of which each passed so many trials; the agent failed the last `lost` trials of the last one."""
    judge = judge_entry([{"name": "ok", "min": 0, "max": 1}])
    events = [run_event(["A"], samples=len(passes), repetitions=trials, judges=[judge])]
    for number, passed in enumerate(passes):
        for trial in range(trials):
            response = response_event(f"s{number:02}", "A", trial + 1)
            if number == len(passes) - 1 and trial >= trials - lost:
                events.append(failure_event(response))
                continue
            score = {"score": float(trial < passed), "reasoning": None, "min": 0, "max": 1, "passed": trial < passed}
            events += [response, {**judgment_event(response), "scores": {"ok": score}}]
    return events


def test_the_components_of_the_worked_example(tmp_path: Path) -> None:
    """Unequal numbers of responses and judgments; with equal ones the components add up to the standard error."""
    a, b, _ = bodies(tmp_path, example(), asked=FULL)
    names = ("var_sample", "var_response", "var_judgment", "se_repeat")
    assert [a[name] for name in names] == pytest.approx([1.087501, 0.156152, 0.21875, 0.125], abs=1e-6)
    assert [b[name] for name in names] == pytest.approx([0.914815, 0.027778, 0.166667, 0.078567], abs=1e-6)
    squares = ("ms_sample", "ms_response", "k1", "k2", "k3")
    assert [a[name] for name in squares] == pytest.approx([6.483939, 0.519697, 1.927273, 1.966061, 5.478788], abs=1e-6)
    assert [b[name] for name in squares] == pytest.approx([5.711111, 0.222222, 2, 2, 6], abs=1e-6)
    total = b["var_sample"] + b["var_response"] + b["var_judgment"]
    assert b["icc_sample"] == pytest.approx(b["var_sample"] / total)
    assert b["judge_reliability"] == pytest.approx((total - b["var_judgment"]) / (total - b["var_judgment"] / 2))
    noise = b["var_response"] / 3 + b["var_judgment"] / 6
    assert b["sample_reliability"] == pytest.approx(b["var_sample"] / (b["var_sample"] + noise))
    # Where the numbers are equal, the components add up to the standard error.
    assert (b["var_sample"] + noise) / 6 == pytest.approx(b["se"] ** 2)
    # df · MSE over the quantiles of chi-square with 18 degrees of freedom, as tables have them.
    limits = (b["var_judgment_lower"], b["var_judgment_upper"])
    assert limits == pytest.approx((3 / 31.5264, 3 / 8.2307), rel=1e-5)
    assert (a["var_response_and_judgment"], a["reasons"]["var_response_and_judgment"]) == (
        None,
        "var_judgment and var_response tell it apart",
    )


def test_the_table_of_shrout_and_fleiss(tmp_path: Path) -> None:
    """Six targets, four ratings each: ICC(1,1) with its interval, and ICC(1,4), the reliability of a sample's mean."""
    table = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))
    judge = judge_entry([{"name": "completeness", "min": 1, "max": 10}])

    def found(rated: Sequence[Sequence[int]]) -> JsonObject:
        events: list[JsonObject] = [run_event(["A"], samples=len(rated), repetitions=4, judges=[judge])]
        for target, ratings in enumerate(rated):
            for repetition, score in enumerate(ratings, 1):
                response = response_event(f"t{target}", "A", repetition)
                given = {"score": score, "reasoning": None, "min": 1, "max": 10, "passed": None}
                events += [response, judgment_event(response) | {"scores": {"completeness": given}}]
        (body,) = bodies(tmp_path, events, asked=FULL)
        return body

    whole = found(table)
    names = ("icc_sample", "icc_sample_lower", "icc_sample_upper", "sample_reliability")
    assert [whole[name] for name in names] == pytest.approx([0.165742, -0.132932, 0.722560, 0.442797], abs=1e-6)
    uneven = found([table[0][:3], *table[1:]])
    assert uneven["icc_sample_lower"] is None
    assert uneven["reasons"]["icc_sample_lower"] == "samples have unequal numbers of answers: no formula is known"
    alike = found([(score,) * 4 for score, *_ in table])
    assert alike["reasons"]["icc_sample_lower"] == "nothing varies within samples"


def test_a_component_may_be_estimated_below_0(tmp_path: Path) -> None:
    """Answers that differ less than their judgments do have a negative estimate, which a share counts as 0."""
    events = []
    for number in range(2):
        for repetition in (1, 2):
            response = response_event(f"q{number}", repetition=repetition)
            events += [response, *(judgment_event(response, score, replicate=n) for n, score in enumerate((1, 5), 1))]
    (found,) = bodies(tmp_path, events, asked=FULL)
    assert (found["var_response"], found["var_sample"], found["var_judgment"]) == (-4.0, 0.0, 8.0)
    assert found["icc_sample"] == found["sample_reliability"] == 0.0


def test_one_judgment_per_answer_tells_agent_and_judge_not_apart(tmp_path: Path) -> None:
    """Their variance together is known, each alone is null, and the judge's reliability is unknown."""
    events = []
    for sample, scores in (("q1", (1, 3)), ("q2", (4, 4)), ("q3", (2, 5))):
        for repetition, score in enumerate(scores, 1):
            response = response_event(sample, repetition=repetition)
            events += [response, judgment_event(response, score)]
    (found,) = bodies(tmp_path, events, asked=FULL)
    assert found["var_response_and_judgment"] == pytest.approx((2 + 0 + 4.5) / 3)
    assert found["var_sample"] == pytest.approx((2 * 1.083333 - 2.166667) / 2, abs=1e-5)
    for name in ("var_response", "var_judgment", "judge_reliability", "var_judgment_lower"):
        assert (found[name], found["reasons"][name]) == (None, "one judgment per answer")


def test_one_response_per_sample_determines_no_component(tmp_path: Path) -> None:
    """What is not repeated is unknown, never 0."""
    (found,) = bodies(tmp_path, scored("baseline", (1, 2, 4)), asked=FULL)
    for name in ("var_sample", "var_response", "var_response_and_judgment", "icc_sample", "sample_reliability"):
        assert (found[name], found["reasons"][name]) == (None, "one response per sample")
    assert found["reasons"]["se_repeat"] == "a sample has one repetition"


def test_the_clusters_of_the_worked_example(tmp_path: Path) -> None:
    """CR1 over three clusters, and Student's t with two degrees of freedom."""
    a, b, _ = bodies(tmp_path, clustered(example(), CLUSTERS))
    names = ("n_clusters", "se_clustered", "ci_lower", "ci_upper")
    assert [a[name] for name in names] == pytest.approx([3, 0.650113, 0.605568, 6.199987], abs=1e-6)
    assert [b[name] for name in names] == pytest.approx([3, 0.580017, 1.282166, 6.273390], abs=1e-6)
    assert a["ci_method"] == "t_clustered"


def test_a_sample_that_was_never_answered_is_in_its_cluster(tmp_path: Path) -> None:
    """Its failures bring its record: its lowest score counts with those of the samples that it belongs to."""
    answers = [response_event(f"q{n}") for n in range(4)]
    failed = failure_event(response_event("q4"), kind="agent_error")
    events = [run_event(["baseline"], samples=5), *answers, *map(judgment_event, answers), failed]
    (found,) = bodies(tmp_path, clustered(events, {f"q{n}": "even" if n % 2 == 0 else "odd" for n in range(5)}))
    assert (found["n_clusters"], found["n_samples"]) == (2, 5)
    assert found["se_clustered"] is not None


def test_the_difference_of_the_worked_example_in_clusters(tmp_path: Path) -> None:
    """Its interval has 2 degrees of freedom, and clusters are flipped whole."""
    *_, found = bodies(tmp_path, clustered(example(), CLUSTERS))
    names = ("n_clusters", "se", "se_clustered", "ci_lower", "ci_upper")
    assert [found[name] for name in names] == pytest.approx([3, 0.100347, 0.110240, -0.099323, 0.849323], abs=1e-6)
    assert (found["ci_method"], found["n_differing"], found["p"], found["p_smallest"]) == ("t_clustered", 3, 0.25, 0.25)
    assert found["p_t"] == pytest.approx(0.076619, abs=1e-6)


@pytest.mark.parametrize(
    ("clusters", "why"), [({"q1": "a"}, "samples without a cluster: 7"), ("aaaaaaaa", "one cluster")]
)
def test_clusters_that_tell_nothing_leave_the_difference_open(
    tmp_path: Path, clusters: Mapping[str, str] | str, why: str
) -> None:
    """Without them it would be higher; with them there is no interval, no test of t, and the reason is said."""
    events = [run_event(["A", "B"], samples=8), *scored("A", (1, 2) * 4), *scored("B", (4, 3) * 4)]
    assert bodies(tmp_path, events)[-1]["conclusion"] == "higher"
    named = {f"q{n}": name for n, name in enumerate(clusters)} if isinstance(clusters, str) else clusters
    found = bodies(tmp_path, clustered(events, named))[-1]
    assert (found["conclusion"], found["reasons"]["conclusion"]) == ("cannot tell", why)
    for name in ("se_clustered", "ci_lower", "ci_upper", "p_t"):
        assert (found[name], found["reasons"][name]) == (None, why)


@pytest.mark.parametrize(
    ("values", "clusters", "se", "se_clustered"),
    [
        ((0.9, 0.8, 1, 0.7, 0.2, 0.4, 0.5, 0.6, 0.1), "aaabbccdd", 0.102439, 0.144734),
        (tuple(range(20)), "abcd" * 5, 1.322876, 0.645497),
    ],
)
def test_unequal_clusters_and_those_that_vary_less_than_chance(
    tmp_path: Path, values: Sequence[float], clusters: str, se: float, se_clustered: float
) -> None:
    """Two published checks: of both standard errors the larger one makes the interval."""
    events = [run_event(["baseline"], samples=len(values)), *scored("baseline", values)]
    for event in events:
        for score in event.get("scores", {}).values():
            score.update(min=0, max=20)
    (found,) = bodies(tmp_path, clustered(events, {f"q{n}": name for n, name in enumerate(clusters)}))
    assert (found["se"], found["se_clustered"]) == pytest.approx((se, se_clustered), abs=1e-6)
    reach = (found["ci_upper"] - found["ci_lower"]) / 2
    assert reach == pytest.approx(3.182446 * max(se, se_clustered), rel=1e-5)


def test_a_sample_without_a_cluster_is_no_cluster_of_its_own(tmp_path: Path) -> None:
    """One of them is enough that there is neither a standard error of clusters nor an interval."""
    (found,) = bodies(tmp_path, clustered([run_event(["A"], samples=6), *scored("A", range(1, 7))], {"q1": "a"}))
    assert found["se_clustered"] is found["ci_lower"] is None
    assert found["reasons"]["ci_lower"] == found["reasons"]["se_clustered"] == "samples without a cluster: 5"


@pytest.mark.parametrize(
    ("passes", "trials", "method", "low", "high"),
    [
        ((3, 3, 2, 3, 1, 3, 0, 2, 3, 3), 3, "wilson_effective_n", 0.483525, 0.920202),
        ((1,) * 8 + (0,) * 2, 1, "wilson", 0.490162, 0.943318),
        ((0,) * 10, 1, "wilson", 0, 0.277533),
        ((2,) * 10, 2, "wilson", 0.722467, 1),
    ],
)
def test_pass_rates_have_wilsons_interval(  # noqa: PLR0917 - the columns of the example
    tmp_path: Path, passes: Sequence[int], trials: int, method: str, low: float, high: float
) -> None:
    """Samples are its cases; those that pass now and then count as many as vary like them; all alike have one, too."""
    (found,) = bodies(tmp_path, passing(passes, trials))
    assert found["ci_method"] == method
    assert (found["ci_lower"], found["ci_upper"]) == pytest.approx((low, high), abs=1e-6)


def test_the_exact_interval_is_asked_for(tmp_path: Path) -> None:
    """Clopper and Pearson's, of a published table for 8 of 10; Student's t stays what it is."""
    (found,) = bodies(tmp_path, passing((1,) * 8 + (0,) * 2, 1), asked=Asked(exact=True))
    assert found["ci_method"] == "clopper_pearson"
    assert (found["ci_lower"], found["ci_upper"]) == pytest.approx((0.443905, 0.974789), abs=1e-6)
    (graded,) = bodies(tmp_path, scored("baseline", (1, 2, 3, 4, 5)), asked=Asked(exact=True))
    assert graded["ci_method"] == "t"


@pytest.mark.parametrize(
    ("passes", "n", "se"), [(28, 79, 0.0541613787), pytest.param(431, 1000, 0.0156679445, marks=pytest.mark.slow)]
)
def test_the_standard_error_of_published_pass_rates(tmp_path: Path, passes: int, n: int, se: float) -> None:
    """So many passes of so many samples: √(p(1 − p)/(n − 1)), as Inspect's logs have it."""
    (found,) = bodies(tmp_path, passing((1,) * passes + (0,) * (n - passes), 1))
    assert found["se"] == pytest.approx(se, abs=1e-10)


def test_answers_are_counted_by_their_status(tmp_path: Path) -> None:
    """Beside the mean stands how many answers said nothing, declined or were cut off."""
    events = []
    for number, status in enumerate(("answered", "empty", "refused", "limit", "limit")):
        response = response_event(f"q{number}", status=status)
        events += [response, judgment_event(response, 3)]
    (found,) = bodies(tmp_path, events)
    assert (found["empty"], found["refused"], found["cut_off"]) == (1, 1, 2)


def test_a_config_may_exclude_the_agents_failures(tmp_path: Path) -> None:
    """Then they are in no mean and in no bound, as if they had not been tried; the event says which way was chosen."""
    config = {"name": "test", "failures": "exclude"}
    events = [run_event(["baseline"], samples=10, config=config), *scored("baseline", (5, 4, 5, 4, 3, 5, 4, 5))]
    events += [failure_event(response_event(f"lost{n}")) for n in (1, 2)]
    (found,) = bodies(tmp_path, events)
    assert (found["mean"], found["mean_lower"], found["mean_upper"]) == (4.375, 4.375, 4.375)
    assert (found["agent_failed"], found["n_samples"], found["failures"]) == (2, 8, "exclude")


def test_excluded_failures_are_not_missing(tmp_path: Path) -> None:
    """Only what was not measured may turn out otherwise: the bounds lie around the mean."""
    run = run_event(["baseline"], samples=2, repetitions=3, config={"name": "test", "failures": "exclude"})
    lost = [
        failure_event(response_event("q1", repetition=2)),
        failure_event(response_event("q1", repetition=3), "infra_error"),
    ]
    events = [run, *judged(response_event("q1"), 5), *lost]
    events += [event for number in (1, 2, 3) for event in judged(response_event("q2", repetition=number), 4)]
    (found,) = bodies(tmp_path, events)
    assert (found["mean"], found["mean_lower"], found["mean_upper"]) == (4.5, (3 + 4) / 2, (5 + 4) / 2)
    (of_q1, of_q2) = bodies(tmp_path, events, levels=("sample",))
    assert [of_q1[name] for name in ("mean", "mean_lower", "mean_upper")] == [5, (5 + 1) / 2, 5]
    assert [of_q2[name] for name in ("mean", "mean_lower", "mean_upper")] == [4, 4, 4]


def test_pairs_that_nobody_was_asked_about_make_no_share_of_the_variance_surer(tmp_path: Path) -> None:
    """Where the baseline failed, an answer counts; of how much scores vary it says nothing."""

    def ends(unasked: int) -> list[float]:
        """Return the share of the questions with its interval, of 12 samples and some that the baseline failed."""
        run = run_event(samples=12 + unasked, repetitions=2, judges=[judge_entry() | {"type": "pairwise"}])
        events: list[JsonObject] = [run]
        for number, repetition in product(range(12 + unasked), (1, 2)):
            of_baseline, response = (
                response_event(f"q{number:02}", name, repetition) for name in ("baseline", "with_docs")
            )
            score = 1 + (number * 3 + repetition * (number % 2)) % 5
            pair = [of_baseline, *judged(response, score)]
            events += pair if number < 12 else [failure_event(of_baseline), response]
        found = next(body for body in bodies(tmp_path, events, asked=FULL) if body["condition"] == "with_docs")
        assert found["scored"] == 2 * (12 + unasked)
        return [found[name] for name in ("icc_sample", "icc_sample_lower", "icc_sample_upper")]

    assert ends(6) == pytest.approx(ends(0))


def test_one_sample_says_nothing_of_the_variance_between_samples(tmp_path: Path) -> None:
    """Nor of any share of it: unknown is null, and not 0."""
    events = [run_event(["baseline"], samples=1, repetitions=3)]
    for number, score in ((1, 3), (2, 4), (3, 4)):
        events += judged(response_event("q1", repetition=number), score)
    (found,) = bodies(tmp_path, events)
    assert [found[name] for name in ("var_sample", "icc_sample", "sample_reliability")] == [None, None, None]
    assert found["var_response_and_judgment"] == pytest.approx(1 / 3)


def test_a_sample_without_a_cluster_leaves_no_interval_of_passes(tmp_path: Path) -> None:
    """As for means: what it belongs to is not known, and it is no cluster of its own."""
    events = clustered(passing((2, 1, 2, 0, 1, 2), 2), {f"s{number:02}": f"c{number // 2}" for number in range(5)})
    (found,) = bodies(tmp_path, events, asked=FULL)
    (first, *_) = found["pass_k"]
    assert (first["value"], first["ci_lower"], first["reason"]) == (
        pytest.approx(8 / 12),
        None,
        "samples without a cluster: 1",
    )
    assert (found["ci_lower"], found["se_clustered"]) == (None, None)


def test_the_share_of_failures_is_of_what_was_scored_or_failed(tmp_path: Path) -> None:
    """Excluded or not, two failures of three repetitions are two thirds."""
    for failures in ("minimum", "exclude"):
        run = run_event(samples=6, repetitions=3, config={"name": "test", "failures": failures})
        events = [run]
        for name, number in product((f"q{n}" for n in range(6)), (1, 2, 3)):
            events += judged(response_event(name, repetition=number), 3)
            with_docs = response_event(name, "with_docs", number)
            events += judged(with_docs, 3) if number == 1 else [failure_event(with_docs)]
        *_, found = bodies(tmp_path, events)
        assert found["failure_rate_difference"] == pytest.approx(2 / 3), failures


@pytest.mark.parametrize("failures", ["minimum", "exclude"])
@pytest.mark.parametrize("unmeasured", [(2,), (2, 3)])
def test_answers_that_no_judge_could_score_are_no_failures(
    tmp_path: Path, failures: str, unmeasured: tuple[int, ...]
) -> None:
    """Both conditions fail at the same places: where the judge of one breaks, it does not fail more often."""
    events = [run_event(samples=8, repetitions=3, config={"name": "test", "failures": failures})]
    for name, number, repetition in product(("baseline", "with_docs"), range(8), (1, 2, 3)):
        response = response_event(f"q{number}", name, repetition)
        if number < 5 and repetition == 1:
            events.append(failure_event(response))
        elif name == "with_docs" and repetition in unmeasured:
            events += [response, judge_failure_event(response)]
        else:
            events += judged(response, number % 4 + 1)
    *_, found = bodies(tmp_path, events)
    assert (found["failure_rate_difference"], found["p_failure_rate"]) == (0.0, 1.0)


@pytest.mark.parametrize("failures", ["minimum", "exclude"])
def test_answers_that_a_metric_does_not_apply_to_are_no_failures(tmp_path: Path, failures: str) -> None:
    """Both conditions fail one of two repetitions, and the metric applies to fewer answers of one of them."""
    events = [run_event(samples=8, repetitions=2, config={"name": "test", "failures": failures})]
    for name, number, repetition in product(("baseline", "with_docs"), range(8), (1, 2)):
        response = response_event(f"q{number}", name, repetition)
        judgment = judgment_event(response, number % 4 + 1)
        if name == "with_docs" and number < 7:
            judgment["scores"]["completeness"] |= {"score": None, "not_applicable": "another topic"}
        events += [failure_event(response)] if repetition == 1 else [response, judgment]
    *_, found = bodies(tmp_path, events)
    assert (found["failure_rate_difference"], found["p_failure_rate"]) == (0.0, 1.0)


@pytest.mark.parametrize("clusters", [False, True])
def test_failures_that_are_excluded_are_tested_all_the_same(tmp_path: Path, *, clusters: bool) -> None:
    """A sample that failed wholly has no value then, and is of those that tell which condition fails more often."""
    failing = {"baseline": (0, 1, 10), "with_docs": (0, 2, 3, 4, 5, 6, 7, 8)}
    found = {}
    for failures in ("minimum", "exclude"):
        dataset = {"dataset": {"path": "q.jsonl", "cluster_key": "cluster"}} if clusters else {}
        events = [run_event(samples=12, config={"name": "test", "failures": failures, **dataset})]
        for condition, number in product(failing, range(12)):
            response = response_event(f"q{number}", condition)
            response["sample"] |= {"cluster": f"c{number}"} if clusters else {}
            events += [failure_event(response)] if number in failing[condition] else judged(response, number % 4 + 1)
        *_, found[failures] = bodies(tmp_path, events)
    one, other = found["minimum"], found["exclude"]
    assert (one["n_paired"], other["n_paired"], other["n_dropped"]) == (12, 2, 9)
    assert other["failure_rate_difference"] == one["failure_rate_difference"] == pytest.approx(5 / 12)
    assert other["p_failure_rate"] == one["p_failure_rate"] == pytest.approx(binomtest(2, 9).pvalue)


def test_a_failed_sample_without_a_cluster_leaves_no_test_of_failures(tmp_path: Path) -> None:
    """Where failures are excluded, the scores are tested all the same: the sample is of the failure rates alone."""
    config = {"name": "test", "failures": "exclude", "dataset": {"path": "q.jsonl", "cluster_key": "cluster"}}
    events = [run_event(samples=8, config=config)]
    for condition, number in product(("baseline", "with_docs"), range(8)):
        response = response_event(f"q{number}", condition)
        response["sample"] |= {"cluster": f"c{number}"} if number else {}
        has_failed = number == 0 and condition == "with_docs"
        events += [failure_event(response)] if has_failed else judged(response, number % 4 + 1)
    *_, found = bodies(tmp_path, events)
    assert (found["p"], found["failure_rate_difference"]) == (1, pytest.approx(1 / 8))
    assert (found["p_failure_rate"], found["reasons"]["p_failure_rate"]) == (None, "a sample has no cluster")


def test_of_a_judge_of_pairs_all_samples_tell_which_condition_fails_more_often(tmp_path: Path) -> None:
    """Where the baseline failed, and failures are excluded, there is no pair to score; the answer is one, though."""
    failing = {"baseline": range(8), "with_docs": (8, 9)}
    versus = judge_entry(name="versus") | {"type": "pairwise"}
    config = {"name": "test", "failures": "exclude", "baseline": "baseline"}
    events = [run_event(samples=12, judges=[versus], config=config)]
    for condition, number in product(failing, range(12)):
        response, other = response_event(f"q{number}", condition), response_event(f"q{number}")
        if number in failing[condition]:
            events.append(failure_event(response))
        elif number in failing["baseline"]:
            events.append(response)
        else:
            events += [response, judgment_event(response, 3, other_response_id=other["id"])]
    *_, found = bodies(tmp_path, events)
    assert (found["failure_rate_difference"], found["p_failure_rate"]) == (-0.5, pytest.approx(binomtest(2, 10).pvalue))


@pytest.mark.parametrize("failures", ["minimum", "exclude"])
def test_samples_that_a_metric_is_not_for_tell_nothing_of_failures(tmp_path: Path, failures: str) -> None:
    """They would dilute the difference between the shares that the agent failed of those that it is for."""
    events = [run_event(samples=12, config={"name": "test", "failures": failures})]
    for condition, number in product(("baseline", "with_docs"), range(12)):
        response = response_event(f"q{number}", condition)
        judgment = judgment_event(response, number % 4 + 1)
        if number >= 6:
            judgment["scores"]["completeness"] |= {"score": None, "not_applicable": "another topic"}
        failed = condition == "baseline" and number < 3
        events += [failure_event(response)] if failed else [response, judgment]
    *_, found = bodies(tmp_path, events)
    assert (found["failure_rate_difference"], found["p_failure_rate"]) == (-0.5, 0.25)


def test_scores_that_are_large_beside_their_spread_vary_all_the_same(tmp_path: Path) -> None:
    """What is zero is told by the digits that a number has, not by those of its square."""
    metrics = [{"name": "elo", "min": 0, "max": 2e6}]
    dataset = {"name": "test", "dataset": {"path": "q.jsonl", "cluster_key": "cluster"}}
    events = [run_event(["baseline"], samples=12, repetitions=2, judges=[judge_entry(metrics)], config=dataset)]
    for sample_number, number in product(range(12), (1, 2)):
        response = response_event(f"q{sample_number}", repetition=number)
        response["sample"] |= {"cluster": "abc"[sample_number % 3]}
        events.append(response)
        for replicate in (1, 2):
            score = 1_000_000 + sample_number % 3 * 0.3 + 0.3 * number + 0.5 * replicate
            judgment = judgment_event(response, {"elo": score}, replicate=replicate)
            judgment["scores"]["elo"] |= {"max": 2e6, "min": 0}
            events.append(judgment)
    (found,) = bodies(tmp_path, events)
    assert found["se_clustered"] == pytest.approx(math.sqrt(3 / 2 * 2 * 1.2**2) / 12, rel=1e-6)
    assert found["var_judgment"] == pytest.approx(0.125, rel=1e-6)
    assert found["ms_response"] == pytest.approx(0.09, rel=1e-6)


def test_the_order_of_lines_changes_no_number(tmp_path: Path) -> None:
    """A shuffled copy of a log has the same aggregates, to the last byte."""
    events = [*clustered(example(), CLUSTERS)]
    runs, rest = events[:1], events[1:]
    expected = bodies(tmp_path, events, ["condition", "sample"], FULL)
    for seed in range(3):
        random.Random(seed).shuffle(rest)  # noqa: S311 - nothing secret
        found = bodies(tmp_path, [*runs, *rest], ["condition", "sample"], FULL)
        assert json.dumps(found) == json.dumps(expected)


def shares(condition: str, scores: Sequence[float | None], judge: JsonObject) -> list[JsonObject]:
    """Return an answer with such a score on a scale of 0 to 1 for each sample; None: the agent failed."""
    events: list[JsonObject] = []
    for number, score in enumerate(scores):
        response = response_event(f"s{number}", condition)
        if score is None:
            events.append(failure_event(response))
        else:
            given = {"ok": {"score": score, "reasoning": None, "min": 0, "max": 1, "passed": None}}
            said = {"judge": {**judgment_event(response)["judge"], "type": judge["type"]}, "scores": given}
            events += [response, judgment_event(response) | said]
    return events


@pytest.mark.parametrize(("others", "method"), [([0.5, 0.25, 1, 0, 0.5, 1], "t"), ([0, 1, 1, 0, 1, 1], "wilson")])
def test_what_a_metric_is_that_judged_nothing_of_a_condition_other_conditions_tell(
    tmp_path: Path, others: Sequence[float], method: str
) -> None:
    """Of a condition that failed everything the minimum is no verdict: of shares it has no interval of a pass rate."""
    judge = judge_entry([{"name": "ok", "min": 0, "max": 1}])
    log = [run_event(["A", "B"], samples=6, judges=[judge])]
    log += shares("A", [None] * 6, judge) + shares("B", others, judge)
    failed, _, _ = bodies(tmp_path, log)
    assert (failed["condition"], failed["mean"], failed["ci_method"]) == ("A", 0, method)
    assert (failed["ci_upper"] is None) is (method == "t")


def test_a_tie_that_nobody_was_asked_about_is_no_pass_and_no_failure(tmp_path: Path) -> None:
    """A judge of pairs whose baseline failed: any answer wins, and two failures are a tie."""
    judge = judge_entry([{"name": "ok", "min": 0, "max": 1}]) | {"type": "pairwise"}
    for lost in (0, 3):
        failing = [None] * lost
        log = [run_event(["A", "B"], samples=6, judges=[judge])]
        log += shares("A", [*failing, *[0.5] * (6 - lost)], judge) + shares("B", [*failing, *[1] * (6 - lost)], judge)
        found = {each["condition"]: each for each in bodies(tmp_path, log) if each["type"] == "aggregate"}
        assert (found["B"]["mean"], found["B"]["ci_method"]) == ((1, "wilson") if not lost else (0.75, "t"))
