"""Properties of pass@k, pass^k and G-Pass@k of a condition."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.reports.verdicts import verdicts
from keval.stats.aggregates import aggregate
from keval.stats.asked import Asked
from keval.stats.condition_passes import Alike, Passes, pass_k
from tests.aggregated import bodies, scored
from tests.builders import (
    JUDGE_ID,
    METRICS,
    failure_event,
    judge_entry,
    judgment_event,
    plan_event,
    response_event,
    run_event,
    write_log,
)

COMPUTED: JsonObject = {
    "name": "overall",
    "type": "weighted",
    "judge_id": "c0ffee" * 4,
    "parts": [{"judge": "rubric", "judge_id": JUDGE_ID, "metric": "completeness", "weight": 1}],
    "tokens_exponent": None,
    "per_tokens": None,
    "min": 1,
    "max": 5,
    "pass_above": 3,
    "formula": "rubric/completeness",
}
"""What passes as the judge's own metric does, if that passes from 4."""
JUDGES = [judge_entry([{**METRICS[0], "pass_from": 4}])]


def by_name(found: list[JsonObject] | None) -> dict[tuple[str, int, float | None], JsonObject]:
    """Return chances by what they are of."""
    return {(each["statistic"], each["k"], each["tau"]): each for each in found or ()}


def test_each_sample_counts_before_they_are_averaged() -> None:
    """Of samples that always pass and never do, half have passed: pooled, the trials would say much more."""
    found = by_name(pass_k(Passes([Alike(4, 4, 5), Alike(4, 0, 5)], decides=True), (1, 2), 0))
    assert [found[name, 2, None]["value"] for name in ("pass@k", "pass^k")] == [0.5, 0.5]
    assert found["pass@k", 2, None]["ci_method"] == "wilson"


@pytest.mark.parametrize(
    ("trials", "passed", "k", "chances"),
    [(8, 5, 4, (1, 0.0714286, 0.928571, 0.5, 0.285714)), (16, 12, 8, (1, 0.0384615, 1, 0.715385, 0.5))],
)
def test_the_worked_examples_of_one_sample(trials: int, passed: int, k: int, chances: Sequence[float]) -> None:
    """Chances of the specification, of n trials and c passes; one sample has no interval."""
    found = by_name(pass_k(Passes([Alike(trials, passed, 1)], decides=True), (k,), 0))
    values = {key[::2]: each["value"] for key, each in found.items()}
    names = (("pass@k", None), ("pass^k", None), ("g_pass@k", 0.5), ("g_pass@k", 0.75), ("mg_pass@k", None))
    assert values == pytest.approx(dict(zip(names, chances, strict=True)), abs=1e-6)
    assert {each["reason"] for each in found.values()} == {"fewer than 5 samples: no interval is shown"}


def test_one_sample_with_too_few_trials_leaves_all_unknown() -> None:
    """Never an average over the lucky ones."""
    found = by_name(pass_k(Passes([Alike(3, 3, 9), Alike(2, 2, 1)], decides=True), (1, 3), 0))
    assert found["pass@k", 1, None]["value"] == 1
    assert (found["pass@k", 3, None]["value"], found["pass@k", 3, None]["reason"]) == (
        None,
        "k exceeds trials (3 of 2)",
    )


@pytest.mark.parametrize(
    ("unknown", "untried", "reason"),
    [(2, 0, "trials not measured or not done: 2"), (0, 4, "samples never tried: 4")],
)
def test_what_was_not_measured_is_no_failed_trial(unknown: int, untried: int, reason: str) -> None:
    """As long as a trial may still pass, nothing is said."""
    found = pass_k(Passes([Alike(3, 3, 9)], unknown=unknown, decides=True), (), untried)
    assert {each["reason"] for each in found or ()} == {reason}
    assert {each["value"] for each in found or ()} == {None}


def test_samples_that_belong_together_have_a_wider_interval() -> None:
    """Clusters that pass or fail as a whole are the cases."""
    alone = pass_k(Passes([Alike(1, 1, 10), Alike(1, 0, 10)], decides=True), (1,), 0)
    groups = [Alike(1, int(n < 2), 5, f"c{n}") for n in range(4)]
    together = pass_k(Passes(groups, decides=True), (1,), 0)
    assert alone is not None
    assert together is not None
    assert together[0]["ci_method"] == "wilson_clustered"
    assert together[0]["ci_lower"] < alone[0]["ci_lower"] < alone[0]["value"] == together[0]["value"]


@pytest.mark.parametrize(
    ("groups", "method"),
    [
        ([Alike(1, 1, 10), Alike(1, 0, 10)], "clopper_pearson"),
        ([Alike(2, 2, 10), Alike(2, 1, 10)], "clopper_pearson_effective_n"),
        ([Alike(1, int(n < 2), 5, f"c{n}") for n in range(4)], "clopper_pearson_clustered"),
    ],
)
def test_whoever_asks_for_exact_intervals_has_them_of_each_k(groups: list[Alike], method: str) -> None:
    """Clopper and Pearson's interval is wider than Wilson's of the same cases."""
    found = Passes(groups, decides=True)
    exact, usual = (by_name(pass_k(found, (1,), 0, exact=exact))["pass@k", 1, None] for exact in (True, False))
    assert exact["ci_method"] == method
    assert exact["ci_lower"] < usual["ci_lower"] < exact["value"] < usual["ci_upper"] < exact["ci_upper"]


@pytest.mark.parametrize("passed", [(2, 0), (2, 2)])
def test_one_cluster_has_no_interval(passed: Sequence[int]) -> None:
    """And says so: however many samples it has, and whether or not they all pass, it shows nothing of others."""
    found = pass_k(Passes([Alike(2, passes, 5, "c") for passes in passed], decides=True), (1,), 0)
    assert [(each["ci_lower"], each["ci_upper"], each["reason"]) for each in found or ()] == [
        (None, None, "one cluster")
    ] * 2


@pytest.mark.slow
def test_a_condition_has_the_chances_of_its_metric(tmp_path: Path) -> None:
    """By the score that passes, which the judge's metric names; where none does there is nothing to say."""
    metric = {"name": "completeness", "min": 1, "max": 5, "pass_from": 4}
    events = [run_event(["A"], samples=2, repetitions=2, judges=[judge_entry([metric])])]
    for sample, scores in (("q1", (5, 4)), ("q2", (3, 4))):
        for repetition, score in enumerate(scores, 1):
            response = response_event(sample, "A", repetition)
            events += [response, judgment_event(response, score)]
    (found,) = bodies(tmp_path, events, asked=Asked(full=True))
    chances = by_name(found["pass_k"])
    assert (chances["pass@k", 1, None]["value"], chances["pass^k", 2, None]["value"]) == (0.75, 0.5)
    (exact,) = bodies(tmp_path, events, asked=Asked(full=True, exact=True))
    assert by_name(exact["pass_k"])["pass@k", 1, None]["ci_method"] == "clopper_pearson_effective_n"
    (unknown,) = bodies(tmp_path, scored("A", (1, 5)), asked=Asked(full=True))
    assert (unknown["pass_k"], unknown["reasons"]["pass_k"]) == (None, "no metric says which score passes")


def test_a_condition_that_was_replaced_has_no_chances(tmp_path: Path) -> None:
    """What passed under its old prompt is no trial of the plan, nor one that failed."""
    events, judge = [], judge_entry([{"name": "completeness", "min": 1, "max": 5, "pass_from": 4}])
    for prompt in ("Old.", "New."):
        response = response_event("q1", "A", prompt=prompt)
        events += [run_event({"A": prompt}, samples=1, judges=[judge]), response, judgment_event(response, 5)]
    found = bodies(tmp_path, events, asked=Asked(full=True))
    chances = {body["current"]: body["pass_k"] and body["pass_k"][0]["value"] for body in found}
    assert chances == {False: None, True: 1.0}
    assert [body["reasons"]["pass_k"] for body in found if not body["current"]] == ["no metric says which score passes"]


@pytest.mark.slow
@pytest.mark.parametrize("pass_from", [{}, {"completeness": 4}])
def test_a_computed_metric_counts_the_trials_that_its_part_does(tmp_path: Path, pass_from: dict[str, float]) -> None:
    """With `--all`, too, where a newer run plans fewer repetitions: what it does not plan is no trial."""
    answers = [response_event(name, "A", repetition) for name in ("q1", "q2") for repetition in (1, 2, 3)]
    plan = plan_event(list(dict.fromkeys(each["question_id"] for each in answers)))

    def run(repetitions: int, **fields: object) -> JsonObject:
        told = {"metrics": [COMPUTED], "plan_id": plan["plan_id"], **fields}
        return run_event(["A"], samples=2, repetitions=repetitions, judges=JUDGES, **told)

    judged = [judgment_event(answer, 1 if answer["repetition"] == 2 else 5) for answer in answers]
    log = write_log(tmp_path / "log.jsonl", [run(3), plan, *answers, *judged, run(2, id="second")])
    with projections.connect([log], texts=False, tools=False, everything=True) as connection:
        asked = Asked(full=True, verdicts=verdicts(connection, pass_from) if pass_from else None)
        found = {body["metric"]: body["pass_k"] for body in aggregate(connection, levels={"condition"}, asked=asked)}
    assert found["overall"] == found["completeness"]
    assert by_name(found["overall"])["pass@k", 1, None]["value"] == 0.5


@pytest.mark.slow
def test_a_computed_metric_of_failures_alone_has_chances(tmp_path: Path) -> None:
    """A trial that the agent failed did not pass, and the metric says which score does."""
    failures = [failure_event(response_event(f"q{number}", "A")) for number in range(6)]
    found = bodies(
        tmp_path, [run_event(["A"], samples=6, judges=JUDGES, metrics=[COMPUTED]), *failures], asked=Asked(full=True)
    )
    assert {body["metric"]: by_name(body["pass_k"])["pass@k", 1, None]["value"] for body in found} == {
        "completeness": 0,
        "overall": 0,
    }
