"""Properties of what a log says of a run that stops when decided: it is what the run said, and nothing else is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from keval import cli, projections
from keval.compare.compared_logs import compare
from keval.config.until_section import Given
from keval.errors import BudgetReachedError
from keval.gate.facts import Facts
from keval.ids import JsonObject
from keval.logs.evaluations import evaluations
from keval.projections.log_file import as_log_file
from keval.stats.aggregates import READ, aggregate, rounded
from keval.stats.asked import Asked
from keval.stats.paired_series import Series, measured
from keval.stats.recorded_rule import Member, RecordedRule, changed, from_json
from keval.stats.stopped_run import DESCRIPTIVE, METHOD, OF_FIXED_SAMPLES, StoppedRun
from keval.stats.stopping_rule import Look, StoppingRule
from tests.stopping_runs import Drawn, events, run, write_evaluation

CLEAR = {"plain": 0.3, "other": 0.9}
ALIKE = {"plain": 0.5, "other": 0.5}
MEMBER = Member("other", "c", "judge", "j", "metric", 1, 5, 0.5)
RULE = RecordedRule(StoppingRule(1), "plain", "b", "a", 100, 1, 0, "sha", (MEMBER,))


def bodies(log: Path, *, everything: bool = False) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return what a log says of its conditions, and of its comparisons."""
    with projections.connect([log], everything=everything, texts=False, tools=False, asked=READ) as connection:
        found = list(aggregate(connection, levels={"condition"}))
    return tuple([each for each in found if each["type"] == kind] for kind in ("aggregate", "comparison"))  # type: ignore[return-value] # two of them


@pytest.mark.slow
@pytest.mark.parametrize("everything", [False, True])
def test_a_report_says_what_the_run_said(tmp_path: Path, everything: bool) -> None:
    """Interval, p, conclusion and number of samples are those of the run's end, whatever came in after the stop."""
    config, log = write_evaluation(tmp_path, concurrent=8), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    [said] = events(log, "until_end")[-1]["comparisons"]
    _, [found] = bodies(log, everything=everything)
    for name in ("difference", "ci_lower", "ci_upper", "p", "conclusion"):
        assert found[name] == rounded(said[name])
    assert (found["ci_method"], found["ci_level"]) == (METHOD, 0.95)
    assert (found["n_paired"], found["until"]["n"], found["until"]["samples"]) == (14, 14, 100)


@pytest.mark.slow
def test_it_does_so_with_repetitions_replicates_and_answers_that_never_came(tmp_path: Path) -> None:
    """Session and projections take the same means: of judgments, then of repetitions, without what was not measured."""
    config, log = write_evaluation(tmp_path, 25, concurrent=5), tmp_path / "log.jsonl"
    written = config.read_text().replace("repetitions: 1", "repetitions: 3")
    config.write_text(written.replace("{type: exact_match}", "{type: exact_match, replicates: 2, sample_rate: 0.8}"))
    run(config, log, Drawn(config, {"plain": 0.4, "other": 0.7}, fails=0.3))
    [said] = events(log, "until_end")[-1]["comparisons"]
    _, [found] = bodies(log)
    for name in ("difference", "ci_lower", "ci_upper", "p", "conclusion"):
        assert found[name] == (pytest.approx(said[name]) if isinstance(said[name], float) else said[name])
    assert found["n_paired"] == said["n_measured"]
    assert said["n"] == 25


def test_numbers_of_a_fixed_number_of_samples_are_not_told(tmp_path: Path) -> None:
    """Other tests are null with the reason, and so are the intervals of the conditions' means."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    conditions, [comparison] = bodies(log)
    for name in ("se", "p_t", "p_holm", "p_smallest"):
        assert comparison[name] is None
        assert comparison["reasons"][name] == OF_FIXED_SAMPLES
    for found in conditions:
        assert (found["mean"] is None, found["ci_lower"], found["reasons"]["ci_lower"]) == (False, None, DESCRIPTIVE)
        assert (found["planned"], found["not_done"]) == (14, 0)


@pytest.mark.slow
def test_of_groups_and_chances_there_is_no_interval(tmp_path: Path) -> None:
    """A group of all samples is no more than they are; and a pass rate is a mean."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    records = [orjson.loads(line) | {"all": "x"} for line in (tmp_path / "questions.jsonl").read_bytes().splitlines()]
    (tmp_path / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    run(config, log, Drawn(config, CLEAR))
    with projections.connect([log]) as connection:
        found = list(aggregate(connection, levels={"condition"}, asked=Asked(full=True, by=("all",))))
    chances = [each for body in found for each in body.get("pass_k", [])]
    assert {(each["ci_lower"], each["ci_upper"], each["reason"]) for each in chances} == {(None, None, DESCRIPTIVE)}
    groups = [body for body in found if body.get("by")]
    assert {body["type"] for body in groups} == {"aggregate", "comparison"}
    assert not any(body.get(name) for body in groups for name in ("ci_lower", "ci_upper", "p", "p_t", "p_bh"))
    assert [body["conclusion"] for body in groups if body["type"] == "comparison"] == ["cannot tell"]


@pytest.mark.slow
def test_no_interval_of_a_condition_is_one(tmp_path: Path) -> None:
    """Nor one by resampling, nor that of a variance: they take the number of samples for fixed before, too."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("repetitions: 1", "repetitions: 2"))
    run(config, log, Drawn(config, {"plain": 0.4, "other": 0.75}))
    with projections.connect([log]) as connection:
        found = list(aggregate(connection, levels={"condition"}, asked=Asked(full=True, bootstrap=True)))
    for body in (each for each in found if each["type"] == "aggregate"):
        ends = {name for name in body if name.endswith(("_lower", "_upper"))} - {"mean_lower", "mean_upper"}
        assert {"ci_lower", "ci_bca_lower", "icc_sample_lower"} < ends
        assert {name for name in ends if body[name] is not None} == set()
        assert body["reasons"]["ci_bca_lower"] == DESCRIPTIVE
        assert (body["mean_lower"], body["mean_upper"]) == (body["mean"], body["mean"])


@pytest.mark.slow
def test_of_another_log_nothing_is_concluded(tmp_path: Path) -> None:
    """How many samples a stopped run has depends on its results: `keval compare` and a gate give no interval."""
    names = ("old", "new")
    for seed, name in enumerate(names):
        (tmp_path / name).mkdir()
        config = write_evaluation(tmp_path / name)
        run(config, tmp_path / f"{name}.jsonl", Drawn(config, CLEAR, seed))
    logs = [as_log_file(tmp_path / f"{name}.jsonl") for name in names]
    found = [each for each in compare(logs).metrics[0].differences if each.n_paired]
    assert len(found) == 2
    assert {(each.ci_lower, each.conclusion, each.reasons["conclusion"]) for each in found} == {
        (None, "cannot tell", DESCRIPTIVE)
    }
    with projections.connect(logs[:1]) as before, projections.connect(logs[1:]) as now:
        facts = Facts(now, {})
        since = facts.since(Facts(before, {}), facts.tables[0], "other")
    assert (since.value is None, since.lower, since.unknown) == (False, None, DESCRIPTIVE)


@pytest.mark.slow
@pytest.mark.parametrize("stopped", ["old", "new"])
def test_that_one_of_two_logs_stopped_is_enough(tmp_path: Path, stopped: str) -> None:
    """Its samples are those that its own results chose, whatever the other log has."""
    for seed, name in enumerate(("old", "new")):
        (tmp_path / name).mkdir()
        config = write_evaluation(tmp_path / name, 30)
        run(config, tmp_path / f"{name}.jsonl", Drawn(config, CLEAR, seed), *(() if name == stopped else (Given(),)))
    logs = [as_log_file(tmp_path / f"{name}.jsonl") for name in ("old", "new")]
    with projections.connect(logs[:1]) as before, projections.connect(logs[1:]) as now:
        facts = Facts(now, {})
        since = facts.since(Facts(before, {}), facts.tables[0], "other")
    assert (since.value is None, since.lower, since.unknown) == (False, None, DESCRIPTIVE)


@pytest.mark.slow
def test_two_configs_with_the_same_questions_stop_each_by_its_own_rule(tmp_path: Path) -> None:
    """In a log of both, a report of each says what one of its own log says; and neither cuts what the other planned."""
    first, both, alone = tmp_path / "first", tmp_path / "both.jsonl", tmp_path / "alone.jsonl"
    first.mkdir()
    config, another = write_evaluation(first), write_evaluation(tmp_path)
    written = another.read_text()
    another.write_text(
        written.replace("name: until", "name: another").replace('"plain"}', '"bare"}').replace('"other"}', '"full"}')
    )
    run(config, both, Drawn(config, CLEAR))
    _, [decided] = bodies(both)
    others = Drawn(another, {"bare": 0.3, "full": 0.9}, seed=1)
    run(another, both, others)
    run(another, alone, others)
    _, [expected] = bodies(alone)
    assert decided["until"]["n"] != expected["until"]["n"]
    with evaluations([as_log_file(both)], ["until", "another"]) as parts:
        apart = [bodies(file.path) for [file] in parts]
    assert [comparison["until"] for _, [comparison] in apart] == [decided["until"], expected["until"]]
    run(config, both, Drawn(config, CLEAR))
    for each in (*apart, bodies(both)):
        assert {found["not_done"] for found in each[0]} == {0}


@pytest.mark.slow
def test_a_missing_score_gives_a_gate_no_interval(tmp_path: Path) -> None:
    """How often a stopped run passes is known within no interval, whatever the missing scores would have been."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR, fails=0.05))
    with projections.connect([log]) as connection:
        found = [Facts(connection, {}).passes(name, 1, every=True) for name in CLEAR]
    assert any(each.value is None and each.worst is not None for each in found)
    assert {(each.lower, each.upper) for each in found} == {(None, None)}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["calibrate", "agreement"])
def test_who_looks_at_the_judge_of_a_stopped_run_is_told(
    tmp_path: Path, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Their intervals are ordinary ones; of a run that went to its end they hold."""
    for right, told in ((CLEAR, True), (ALIKE, False)):
        folder = tmp_path / str(told)
        folder.mkdir()
        config, log = write_evaluation(folder, 30), folder / "log.jsonl"
        run(config, log, Drawn(config, right))
        cli.run([command, str(log)])
        assert ("the run stops when decided: intervals of 95 %" in capfd.readouterr().err) is told


@pytest.mark.slow
def test_of_other_metrics_nothing_is_concluded(tmp_path: Path) -> None:
    """A metric that is not primary is shown without interval and p: the run stopped because of another one."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    written = config.read_text().replace("{type: exact_match}", "{type: exact_match}, {type: contains}")
    config.write_text(written + "comparison: {primary: [exact_match]}\n")
    run(config, log, Drawn(config, CLEAR))
    _, found = bodies(log)
    by_metric = {each["metric"]: each for each in found}
    assert by_metric["exact_match"]["conclusion"] == "higher"
    other = by_metric["contains"]
    assert (other["ci_lower"], other["p"], other["conclusion"]) == (None, None, "cannot tell")
    assert other["reasons"]["conclusion"] == DESCRIPTIVE
    assert other["difference"] == by_metric["exact_match"]["difference"]


@pytest.mark.slow
def test_an_unfinished_run_tells_what_its_finished_samples_say(tmp_path: Path) -> None:
    """When the money was spent, what is there is read by the rule: not decided, after so many samples."""
    config, log = write_evaluation(tmp_path, concurrent=1), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("repetitions: 1,", "repetitions: 1, budget_usd: 0.115,"))
    with pytest.raises(BudgetReachedError):
        run(config, log, Drawn(config, CLEAR))
    conditions, [found] = bodies(log)
    assert found["reasons"]["conclusion"] == f"not decided after {found['until']['n']} of 100 samples"
    assert found["ci_method"] == METHOD
    assert {each["planned"] for each in conditions} == {100}


@pytest.mark.slow
def test_answers_after_the_first_unfinished_sample_change_no_number_of_a_comparison(tmp_path: Path) -> None:
    """Of an interrupted run all numbers of a comparison are of the same samples: those that the rule looks at."""
    config, log = write_evaluation(tmp_path, 30, concurrent=1), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("repetitions: 1", "repetitions: 2"))
    run(config, log, Drawn(config, {"plain": 0.5, "other": 0.6}, fails=0.25, fails_as="timeout"))
    order = list(dict.fromkeys(each["sample"]["id"] for each in events(log, "response")))

    def left_without(samples: list[str]) -> JsonObject:
        gone = {each["id"] for each in events(log, "response") if each["sample"]["id"] in samples}
        lines = [line for line in log.read_bytes().splitlines() if b'"until_end"' not in line]
        kept = [
            line
            for line, event in zip(lines, map(orjson.loads, lines), strict=True)
            if not gone & {event["id"], event.get("response_id")} and event.get("sample_id") not in samples
        ]
        left = tmp_path / "left.jsonl"
        left.write_bytes(b"\n".join([*kept, b""]))
        _, [found] = bodies(left, everything=True)
        return found

    found, expected = left_without(order[12:13]), left_without(order[12:])
    assert found["until"]["n"] == 12
    assert found["wins"] + found["ties"] + found["losses"] == found["n_paired"]
    assert found["failure_rate_difference"]
    of_all_planned = ("difference_lower", "difference_upper")
    for name in expected.keys() - of_all_planned:
        assert found[name] == (pytest.approx(expected[name]) if isinstance(expected[name], float) else expected[name])


@pytest.mark.slow
def test_the_complete_dataset_is_also_read_by_the_rule(tmp_path: Path) -> None:
    """A run that found nothing early has the ordinary interval at half of alpha, and condition means have theirs."""
    config, log = write_evaluation(tmp_path, 30), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, ALIKE))
    conditions, [found] = bodies(log)
    assert found["until"]["n"] == 30
    assert found["reasons"]["conclusion"] == "not decided by all 30 samples"
    assert all(each["ci_lower"] is not None for each in conditions)


@pytest.mark.slow
def test_without_a_rule_nothing_changes(tmp_path: Path) -> None:
    """A run that asks all has the numbers of a fixed number of samples."""
    config, log = write_evaluation(tmp_path, 20), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR), Given())
    _, [found] = bodies(log)
    assert (found["ci_method"], "until" in found) == ("t", False)


def test_a_rule_comes_back_from_its_event() -> None:
    """What a log has of a rule is the rule; what differs between two is named."""
    assert from_json(RULE.as_json()) == RULE
    assert changed(RULE.as_json(), RULE.as_json()) == []
    assert changed(RULE.as_json(), RULE.as_json() | {"alpha": 0.1, "seed": 1}) == ["alpha", "the seed"]


def test_what_the_rule_concludes_has_no_reason_why_nothing_can_be_told() -> None:
    """Why a fixed number of samples would have shown nothing is no reason beside a conclusion."""
    found = Look(14, 14, 1.0, 0.5, 1.5, 0.01, 5.0, 0.0, "higher")
    body: JsonObject = {
        "condition_id": "c", "judge_id": "j", "metric": "metric", "agent_id": "a", "baseline_id": "b", "current": True,
        "conclusion": "cannot tell", "reasons": {"conclusion": "answers not measured", "d_z": "x"},
    }  # fmt: skip
    concluded = StoppedRun(RULE, "r", {}, {MEMBER.key: found}, {}).concluded(body)
    assert (concluded["conclusion"], concluded["reasons"]) == ("higher", {"d_z": "x"})
    body |= {"reasons": {"margin": "the config declares no margin"}}
    for margin, reasons in ((None, body["reasons"]), (0.5, {})):
        rule = replace(RULE, family=(replace(MEMBER, margin=margin),))
        concluded = StoppedRun(rule, "r", {}, {MEMBER.key: found}, {}).concluded(body)
        assert (concluded["margin"], concluded["reasons"]) == (margin, reasons)


def test_what_was_not_measured_is_counted_as_missing() -> None:
    """A sample's mean is of what has a value; at worst and at best the rest is at the ends of the scale."""
    found = measured([4, 2], 1, 1, 5)
    assert (found.mean, found.lowest, found.expected, found.missing) == (3, 7 / 3, 3, 1)
    series = Series(RULE, MEMBER)
    series.add(found, measured([1, 1, 1], 0, 1, 5))
    assert series.is_doubtful
    assert (series.found[0].value, round(series.found[0].lowest, 9)) == (2, round(4 / 3, 9))


def test_what_does_not_apply_is_neither_measured_nor_missing() -> None:
    """A sample that no metric applies to says nothing, and does not make the others doubtful."""
    series = Series(RULE, MEMBER)
    series.add(measured([], 0, 1, 5), measured([], 0, 1, 5))
    assert series.found[0].value is None
    assert not series.is_doubtful


@pytest.mark.parametrize(
    ("ours", "theirs", "outcome"), [(0, 0, "cannot tell"), (5, 0, "higher"), (1, 1, "no difference within margin")]
)
def test_conditions_that_fail_alike_are_not_alike(ours: int, theirs: int, outcome: str) -> None:
    """A failure, 0 here, counts as the least score; a condition that has nothing else is like no other."""
    series = Series(RULE, MEMBER)
    for _ in range(60):
        series.add(*(measured([each or 1], 0, 1, 5, failed=not each) for each in (ours, theirs)))
    assert (series.look().outcome, series.is_decided) == (outcome, outcome != "cannot tell")
    assert (series.look().lower is None) == (outcome == "cannot tell")
