from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from statistics import fmean, variance

import pytest

from keval import projections
from keval.cli import run
from keval.exports._planning import Plans
from keval.ids import JsonObject
from keval.planning.pilots import Pilot, named, pilots
from keval.planning.plan import plan
from keval.stats.next_spend import Design, UnitCosts
from keval.stats.power import Aim, power, reach_of_variance, samples_needed
from tests.builders import (
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    unasked_judgment_event,
    write_log,
)
from tests.unit.stats.test_condition_passes import COMPUTED

Scores = dict[str, list[list[list[float]]]]
"""Of each condition its samples, of these the responses, of these the judgments."""

EXAMPLE: Scores = {
    "baseline": [
        [[5, 5], [5, 4], [5, 5]], [[3, 3], [4, 3], [3, 3]], [[5, 5], [5, 4], [5, 5]],
        [[2, 2], [2, 3], [3, 3]], [[4, 4], [5, 4], [4, 4]], [[3, 3], [3, 3], [4, 3]],
    ],
}  # fmt: skip
"""Condition B of the worked example of the statistics: σ²_R is 0.027778, σ²_J is 0.166667."""


def log_of(path: Path, scores: Scores) -> Path:
    """Write the log of a pilot; a response costs $0.25, a judgment $0.50."""
    events: list[JsonObject] = [run_event(tuple(scores), samples=6, repetitions=3)]
    for condition, samples in scores.items():
        for number, responses in enumerate(samples):
            for repetition, judgments in enumerate(responses, 1):
                answer = response_event(f"q{number}", condition, repetition)
                events.append(answer)
                events += [judgment_event(answer, score, replicate=j) for j, score in enumerate(judgments, 1)]
    return write_log(path, events)


def pilot_of(path: Path, scores: Scores) -> Pilot:
    """Return the only comparison of such a log."""
    with projections.connect([log_of(path, scores)], texts=False, tools=False) as connection:
        (found,) = pilots(connection, UnitCosts(None, None))
    return found


def random_scores(seed: int) -> Scores:
    """Return scores of two conditions, 12 samples, 3 repetitions and 2 judgments."""
    draw = random.Random(seed)  # noqa: S311 - data of a test
    drawn = {condition: [draw.uniform(2, 4) for _ in range(12)] for condition in ("baseline", "with_docs")}
    return {
        condition: [
            [[answer + draw.uniform(-0.2, 0.2) for _ in range(2)] for answer in answers]
            for answers in ([level + draw.uniform(-0.8, 0.8) for _ in range(3)] for level in levels)
        ]
        for condition, levels in drawn.items()
    }


@pytest.mark.slow
def test_the_components_of_the_worked_example(tmp_path: Path) -> None:
    """Both conditions having the scores of B one sample apart, ΣR is twice 0.027778 and ΣJ twice 0.166667."""
    moved = EXAMPLE["baseline"][1:] + EXAMPLE["baseline"][:1]
    found = pilot_of(tmp_path / "run.jsonl", {**EXAMPLE, "with_docs": moved})
    assert found.now == Design(6, 3, 2)
    assert found.components is not None
    assert found.components.responses == pytest.approx(2 * 0.0277778, abs=1e-6)
    assert found.components.judgments == pytest.approx(2 * 0.1666667, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_components_come_to_the_variance_of_the_differences(tmp_path: Path, seed: int) -> None:
    """Of a balanced pilot V(r, j) is the variance of the samples' differences, an identity; digits are a report's."""
    scores = random_scores(seed)
    means = {name: [fmean(map(fmean, responses)) for responses in samples] for name, samples in scores.items()}
    differences = [b - a for a, b in zip(means["baseline"], means["with_docs"], strict=True)]
    found = pilot_of(tmp_path / "run.jsonl", scores)
    assert found.components is not None
    assert min(found.components.samples, found.components.responses or 0) > 0
    assert found.components.variance(3, 2) == pytest.approx(variance(differences))
    assert found.difference == pytest.approx(fmean(differences))
    assert found.difference == float(f"{found.difference:.12g}")


def test_a_pilot_of_which_much_is_missing_is_taken_for_what_it_has(tmp_path: Path) -> None:
    """Two samples of twelve were repeated: power is that of the differences as they are; what is missing is paid."""
    scores = {
        name: [each[:1] if number > 1 else each for number, each in enumerate(samples)]
        for name, samples in random_scores(1).items()
    }
    pilot = pilot_of(tmp_path / "run.jsonl", scores)
    means = {name: [fmean(map(fmean, responses)) for responses in samples] for name, samples in scores.items()}
    found = variance([b - a for a, b in zip(means["baseline"], means["with_docs"], strict=True)])
    assert pilot.now == Design(12, 3, 2)
    assert pilot.components is not None
    assert pilot.components.variance(3, 2) < found
    planned = plan(pilot, Aim(0.5))
    assert planned.power == pytest.approx(power(0.5, found, 12, 0.05))
    more = planned.purchases[0]
    assert more.responses == 2 * more.design.samples * 3 - 32
    assert any("12 samples, 1 to 3 repetitions, 2 judgments each" in line for line in Plans([planned]).as_text())


@pytest.mark.slow
def test_samples_in_clusters_vary_by_their_larger_error(tmp_path: Path) -> None:
    """Pairs of equal differences tell half as much as samples on their own; without a cluster nothing is planned."""
    scores: Scores = {"baseline": [[[2]]] * 6, "with_docs": [[[score]] for score in (1, 1, 3, 3, 5, 5)]}

    def found(clusters: str) -> Pilot:
        run, *rest = map(json.loads, log_of(tmp_path / "run.jsonl", scores).read_text().splitlines())
        run["config"]["dataset"] = {"cluster_key": "cluster"}
        for event in rest:
            number = int(event["sample"]["id"][1:]) if "sample" in event else len(clusters)
            if number < len(clusters):
                event["sample"]["cluster"] = clusters[number]
        with projections.connect([write_log(tmp_path / "run.jsonl", [run, *rest])]) as connection:
            (pilot,) = pilots(connection, UnitCosts(None, None))
        return pilot

    # d is -1, -1, 1, 1, 3, 3: the sums of the clusters' deviations are -4, 0 and 4.
    components = found("aabbcc").components
    assert components is not None
    assert components.variance(1) == pytest.approx(3 / 2 * 32 / 6)
    assert (found("aabb").components, found("aabb").reason) == (None, "samples without a cluster: 2")
    # The t test of three clusters has 2 degrees, and so has the variance that was found.
    assert any("6 samples in 3 clusters" in line for line in Plans([plan(found("aabbcc"), Aim(4))]).as_text())
    told = list(Plans([plan(found("aabbcc"), Aim(1))]).as_text())
    assert "note: more samples are more clusters, each as large as those of the pilot: 2 samples on average" in told
    varies, planned = components.variance(1), plan(found("aabbcc"), Aim(4))
    assert planned.power == pytest.approx(power(4, varies, 6, 0.05, clusters=3))
    assert planned.samples_if_unlucky == samples_needed(varies * reach_of_variance(3, 0.8), Aim(4, cluster_size=2))


@pytest.mark.slow
def test_a_variance_that_is_taken_for_none_is_said(tmp_path: Path) -> None:
    """Samples differ less than their repetitions make them: the plan promises less of what is there than a report."""
    repeated: list[list[list[float]]] = [[[3], [1]], [[1], [3]], [[2], [4]], [[4], [2]], [[3], [2]], [[2], [3]]]
    pilot = pilot_of(tmp_path / "run.jsonl", {"baseline": repeated, "with_docs": repeated[::-1]})
    assert pilot.components is not None
    assert pilot.components.samples == 0
    assert any(line.startswith("note: samples 0.00: ") for line in Plans([plan(pilot, Aim(1))]).as_text())


@pytest.mark.slow
def test_a_plan_says_what_is_found_now_and_what_to_buy(tmp_path: Path) -> None:
    """Prices are those of the log: two responses at $0.25, two judgments at $0.50; power rises to the aim."""
    found = plan(pilot_of(tmp_path / "run.jsonl", random_scores(0)), Aim(0.2))
    assert (found.pilot.prices.response, found.pilot.prices.judgment) == (0.5, 1.0)
    assert found.power is not None
    assert found.power < 0.8
    assert not found.reached
    more = found.purchases[0]
    assert more.cost_usd == pytest.approx(more.responses / 2 * 0.5 + more.judgments / 2 * 1.0)
    assert (found.best_repetitions, found.samples_if_unlucky or 0) >= (0.0, more.design.samples)
    assert plan(found.pilot, Aim(3)).reached


@pytest.mark.slow
def test_a_given_price_takes_the_place_of_what_the_log_paid(tmp_path: Path) -> None:
    """It is of both conditions, that of a judgment for all judges; what has no known price is named."""
    events: list[JsonObject] = [run_event(("baseline", "with_docs"), samples=6, repetitions=1)]
    for number in range(6):
        for condition, score in (("baseline", 1), ("with_docs", 2 + number % 3)):
            answer = response_event(f"q{number}", condition)
            if number == 3:  # one was refused, which nobody paid for, and one broke off, of which it is known
                failed: JsonObject = {"kind": "infra_error", "message": "busy", "duration_ms": 1, "usage": None}
                costs = (None, 0.375 if condition == "baseline" else None)
                answer |= {"attempts": 3, "failed_attempts": [failed | {"cost_usd": each} for each in costs]}
            events += [answer, judgment_event(answer, score, cost_usd=None)]
    path = write_log(tmp_path / "run.jsonl", events)

    def priced(given: UnitCosts) -> tuple[float | None, float | None, tuple[str, ...]]:
        with projections.connect([path], texts=False, tools=False) as connection:
            (found,) = pilots(connection, given)
        return found.prices.response, found.prices.judgment, found.unpriced

    paid = 0.25 + 0.375 / 6 + 0.25
    assert priced(UnitCosts(None, None)) == (paid, None, ("a judgment by rubric",))
    assert priced(UnitCosts(None, 0)) == (paid, 0, ())
    assert priced(UnitCosts(0.03, 0.01)) == (0.03, 0.01, ())


def test_a_judge_that_no_run_asks_is_not_paid_for(tmp_path: Path) -> None:
    """It was added to the log by `keval judge -j`: more samples are judged by the config's judges alone."""
    added = judge_entry(name="brief", judge_id="c" * 16)
    events: list[JsonObject] = [run_event(samples=6, repetitions=1)]
    judged_later: list[JsonObject] = [run_event(()) | {"conditions": None, "command": "judge", "judges": [added]}]
    for number, condition in product(range(6), ("baseline", "with_docs")):
        answer = response_event(f"q{number}", condition)
        events += [answer, judgment_event(answer, 1 + number % 3)]
        by_brief: JsonObject = {"judge": {"name": "brief", "type": "rubric", "model": None}, "cost_usd": None}
        judged_later.append(judgment_event(answer, 1 + number % 4, judge_id="c" * 16, **by_brief))
    path = write_log(tmp_path / "run.jsonl", [*events, *judged_later])
    with projections.connect([path], texts=False, tools=False) as connection:
        of_config, of_added = pilots(connection, UnitCosts(None, None))
    assert (of_config.prices.response, of_config.prices.judgment, of_config.unpriced) == (0.5, 1.0, ())
    assert (of_added.judge, of_added.prices.response, of_added.unpriced) == ("brief", 1.5, ("a judgment by brief",))


def test_a_judgment_that_nobody_was_asked_for_makes_no_other_cheaper(tmp_path: Path) -> None:
    """The judge is for six of ten samples, and each of its judgments cost 0.5 US dollars: so will the next one."""
    events: list[JsonObject] = [run_event(samples=10, repetitions=1)]
    for number, condition in product(range(10), ("baseline", "with_docs")):
        answer = response_event(f"q{number}", condition)
        events += [answer, judgment_event(answer, 1 + number % 3) if number < 6 else unasked_judgment_event(answer)]
    path = write_log(tmp_path / "run.jsonl", events)
    with projections.connect([path], texts=False, tools=False) as connection:
        (found,) = pilots(connection, UnitCosts(None, None))
    assert (found.prices.response, found.prices.judgment) == (0.5, 1.0)


@pytest.mark.slow
def test_an_answer_of_unknown_cost_makes_no_other_cheaper(tmp_path: Path) -> None:
    """Half of the answers cost $0.25 each, after a refusal for nothing; of the others it is not known."""
    failed: JsonObject = {"kind": "infra_error", "message": "busy", "duration_ms": 1, "usage": None, "cost_usd": 0}
    events: list[JsonObject] = [run_event(("baseline", "with_docs"), samples=6, repetitions=1)]
    for number in range(6):
        for condition in ("baseline", "with_docs"):
            answer = response_event(f"q{number}", condition, attempts=2, failed_attempts=[failed])
            answer |= {"cost_usd": None if number % 2 else 0.25}
            events += [answer, judgment_event(answer, 1 + number % 3)]
    path = write_log(tmp_path / "run.jsonl", events)
    with projections.connect([path], texts=False, tools=False) as connection:
        (found,) = pilots(connection, UnitCosts(None, None))
    assert found.prices.response == 0.5


@pytest.mark.slow
def test_what_was_not_measured_is_null(tmp_path: Path) -> None:
    """One repetition and one judgment: only samples can be planned; differences that do not vary: nothing can."""
    single: Scores = {
        "baseline": [[[1]], [[2]], [[3]]],
        "with_docs": [[[2]], [[2]], [[5]]],
    }
    found = pilot_of(tmp_path / "run.jsonl", single)
    assert found.components is not None
    assert (found.components.responses, found.components.judgments) == (None, None)
    assert found.components.samples == pytest.approx(variance([1, 0, 2]))
    same = plan(pilot_of(tmp_path / "same.jsonl", {"baseline": [[[1]], [[2]]], "with_docs": [[[2]], [[3]]]}), Aim(1))
    assert (same.power, same.purchases) == (None, ())
    assert same.pilot.reason == "every sample differs by the same amount"


@pytest.mark.slow
def test_a_metric_is_named_alone_or_after_its_judge(tmp_path: Path) -> None:
    """METRIC, JUDGE/METRIC and JUDGE_ID/METRIC name one, and another name names none."""
    found = pilot_of(tmp_path / "run.jsonl", random_scores(0))
    for name in ("completeness", "rubric/completeness", f"{found.judge_id}/completeness"):
        assert named([found], name) == [found]
    assert named([found], "complete") == []


@pytest.mark.slow
def test_primary_metrics_share_alpha(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As they do in a report; another metric is planned for if it is named."""
    run_, *rest = map(json.loads, log_of(tmp_path / "run.jsonl", random_scores(0)).read_text().splitlines())
    run_["config"]["comparison"] = {"primary": ["completeness"]}
    metrics = run_["judges"][0]["metrics"]
    metrics.append(metrics[0] | {"name": "clarity"})
    for event in rest:
        if event["type"] == "judgment":
            event["scores"]["clarity"] = event["scores"]["completeness"]
    log = str(write_log(tmp_path / "run.jsonl", [run_, *rest]))

    def planned(*more: str) -> list[tuple[str, int]]:
        assert run(("plan", log, "--difference", "0.2", "-f", "json", *more)) == 0
        said = json.loads(capfd.readouterr().out)
        return [(each["metric"], said["aim"]["tests"]) for each in said["plans"]]

    assert planned() == [("completeness", 1)]
    assert planned("--metric", "clarity") == [("clarity", 1)]
    run_["config"]["comparison"] = {"primary": ["completeness", "clarity"]}
    write_log(tmp_path / "run.jsonl", [run_, *rest])
    assert planned() == [("completeness", 2), ("clarity", 2)]


@pytest.mark.slow
def test_the_command_plans_from_a_log_and_from_variances(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Text and JSON say the same numbers; options that go with nothing are told as usage errors."""

    def keval(*arguments: str) -> tuple[int, str]:
        code = run(arguments)
        captured = capfd.readouterr()
        return code, captured.out or captured.err

    log = str(log_of(tmp_path / "run.jsonl", random_scores(0)))
    code, text = keval("plan", log, "--difference", "0.2")
    assert code == 0
    (made,) = json.loads(keval("plan", log, "--difference", "0.2", "-f", "json")[1])["plans"]
    assert f"take {made['samples_if_unlucky']}" in text
    assert f"power {made['power']:.0%}" in text
    assert all(each["name"] in text for each in made["purchases"])
    given = ["plan", "--difference", "0.3", "--var-samples", ".432", "--var-responses", "3.1352"]
    designs = json.loads(keval(*given, "--var-judgments", "1.062", "-f", "json")[1])["designs"]
    assert designs[0]["design"] == {"samples": 406, "repetitions": 1, "replicates": 1}
    assert keval(*given, log)[0] == 2
    assert keval("plan", log, "--difference", "0.2", "--var-judgments", "1")[0] == 2
    code, told = keval("plan", log, "--difference", "0.2", "--metric", "clarity")
    assert (code, "there are: completeness, rubric/completeness" in told) == (2, True)


@pytest.mark.slow
def test_a_computed_metric_is_bought_like_its_part(tmp_path: Path) -> None:
    """It has no judgments of its own; those of its part are there, and are not to be paid for again."""
    events: list[JsonObject] = [run_event(samples=6, repetitions=2, metrics=[COMPUTED])]
    for condition in ("baseline", "with_docs"):
        for number in range(6):
            for repetition in (1, 2):
                answer = response_event(f"q{number}", condition, repetition)
                score = 1 + (number * 7 + repetition * 3 + (condition == "with_docs") * number) % 5
                events += [answer, judgment_event(answer, score)]
    with projections.connect([write_log(tmp_path / "log.jsonl", events)], texts=False, tools=False) as connection:
        part, overall = pilots(connection, UnitCosts(None, None))
    assert (part.metric, overall.metric) == ("completeness", "overall")
    assert overall.measured == part.measured
    bought = [[each.judgments for each in plan(pilot, Aim(0.5)).purchases] for pilot in (part, overall)]
    assert bought[0] == bought[1] != []
