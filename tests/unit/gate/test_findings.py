from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from keval import ids, projections
from keval.cli import run
from keval.compare.compared_logs import compare
from keval.config.gate_rules import Unit, read_rule
from keval.errors import InputError, UsageError
from keval.exports._gate import junit, text
from keval.gate.facts import Facts
from keval.gate.findings import Finding, GateResult, judge_rules
from keval.ids import JsonObject
from keval.projections.log_file import as_log_file
from keval.reports.builder import compose
from tests.builders import (
    METRICS,
    failure_event,
    judge_entry,
    judge_failure_event,
    judgment_event,
    plan_event,
    response_event,
    run_event,
    write_log,
)

BASELINE = [2, 3, 2, 3, 2, 3, 2, 3]
WITH_DOCS = [4, 5, 4, 5, 4, 5, 4, 5]
GATE = {"rules": ["completeness of baseline >= 2.5"], "on": "mean"}


def write(path: Path, *, better: float = 0, lost: int = 0, gate: object = None, named: str | None = None) -> Path:
    """Write a log of 8 samples asked twice: with_docs is better by 2, and its first sample fails once.

    `lost` answers of with_docs were not measured. `named` is the baseline that the config names.
    """
    judges = [judge_entry([{**METRICS[0], "pass_from": 4}])]
    config = {"name": "test"} | ({} if gate is None else {"gate": gate}) | ({"baseline": named} if named else {})
    events: list[JsonObject] = [run_event(samples=8, repetitions=2, judges=judges, config=config)]
    tasks = [
        (condition, number, repetition, score)
        for condition, scores in (("baseline", BASELINE), ("with_docs", WITH_DOCS))
        for number, score in enumerate(scores)
        for repetition in (1, 2)
    ]
    for condition, number, repetition, score in tasks:
        docs = condition == "with_docs"
        turn = {"type": "tool_call", "id": "1", "name": "search", "server": "docs", "input": {}, "result": "x",
                "error": number == 1, "duration_ms": 5}  # fmt: skip
        answer = response_event(
            f"q{number}", condition, repetition, question=f"Why {number}?",
            duration_ms=1000 * (number + 1), turns=[turn] if docs else [],
        )  # fmt: skip
        if docs and (number, repetition) == (0, 2):
            events.append(failure_event(answer))
        elif docs and repetition == 1 and number >= 8 - lost:
            events += [answer, judge_failure_event(answer)]
        else:
            events += [answer, judgment_event(answer, min(5, score + better * docs))]
    return write_log(path, events)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of most tests, which none changes."""
    return write(tmp_path_factory.mktemp("gate") / "run.jsonl", gate=GATE)


@pytest.fixture(scope="module")
def facts(log: Path) -> Iterator[Facts]:
    """Return what that log says."""
    with projections.connect([log], texts=False) as connection:
        yield Facts(connection, {})


def held(facts: Facts, *rules: str, before: Facts | None = None, on_mean: bool = False) -> list[Finding]:
    """Return what becomes of rules."""
    return list(judge_rules(map(read_rule, rules), facts, before, on_mean=on_mean).findings)


def verdicts(found: Sequence[Finding]) -> list[str]:
    """Return the verdicts alone."""
    return [each.verdict for each in found]


def test_a_level_is_met_by_its_whole_interval(facts: Facts) -> None:
    """The baseline is 2.5 on the mean: above 2 as a whole, not above 3, and nobody can tell about 2.5."""
    rules = ("completeness of baseline > 2", "completeness of baseline >= 3", "completeness of baseline >= 2.5")
    found = held(facts, *rules)
    assert verdicts(found) == ["met", "not met", "cannot tell"]
    assert found[0].value == 2.5
    assert found[2].why == "the interval includes the limit"
    assert verdicts(held(facts, *rules, on_mean=True)) == ["met", "not met", "met"]


def test_the_limit_itself_is_met_only_where_it_counts(facts: Facts) -> None:
    """A mean that equals the limit meets >= and fails >, to the last digit."""
    rules = [f"completeness of baseline {sign} 2.5" for sign in (">=", ">", "<=", "<")]
    assert verdicts(held(facts, *rules, on_mean=True)) == ["met", "not met", "met", "not met"]


def test_a_rule_without_a_condition_is_asked_of_all(facts: Facts) -> None:
    """One line per condition; a comparison without a metric is one per metric."""
    assert [each.about for each in held(facts, "completeness >= 1")] == [
        "baseline, rubric/completeness", "with_docs, rubric/completeness",
    ]  # fmt: skip
    assert [each.about for each in held(facts, "with_docs higher than baseline")] == [
        "with_docs minus baseline, rubric/completeness"
    ]


def test_what_is_counted_needs_no_interval(facts: Facts) -> None:
    """Failures, missing answers, tool errors, dollars and seconds are what happened in the log."""
    found = held(
        facts, "failures of with_docs <= 5%", "failures of with_docs <= 7%", "missing <= 0", "tool errors <= 20%",
        "cost per answer <= $0.25", "cost per answer < $0.25", "latency p50 of baseline <= 4.5s",
        "latency p99 of baseline <= 7000ms",
    )  # fmt: skip
    assert [(each.verdict, each.value) for each in found] == [
        ("not met", 1 / 16), ("met", 1 / 16), ("met", 0), ("met", 0), ("met", pytest.approx(2 / 15)),
        ("met", 0.25), ("met", 0.25), ("not met", 0.25), ("not met", 0.25), ("met", 4.5), ("not met", 8.0),
    ]  # fmt: skip


def test_a_run_in_which_everything_failed_reaches_no_score(tmp_path: Path) -> None:
    """All samples have the same value then, and no interval; a rule that asks for low scores is not met by failures."""
    failed = [failure_event(response_event(f"q{number}")) for number in range(8)]
    scored = [response_event("q9", "with_docs"), judgment_event(response_event("q9", "with_docs"), 4)]
    for number, left in ((8, failed), (20, failed)):
        log = write_log(tmp_path / f"{number}.jsonl", [run_event(samples=number), *left, *scored])
        with projections.connect([log], texts=False) as connection:
            found = held(Facts(connection, {}), "completeness of baseline >= 3", "completeness of baseline <= 2")
            by_number = held(Facts(connection, {}), "completeness of baseline <= 2", on_mean=True)
        assert verdicts(found) == (["not met", "cannot tell"] if number == 8 else ["cannot tell", "cannot tell"])
        assert verdicts(by_number) == (["met"] if number == 8 else ["cannot tell"])


def test_a_condition_of_which_some_was_scored_is_held_to_its_interval(tmp_path: Path) -> None:
    """One answer that did not fail is a score, whatever became of the others."""
    failed = [failure_event(response_event(f"q{number}")) for number in range(7)]
    scored = [response_event("q9"), judgment_event(response_event("q9"), 5)]
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"], samples=8), *failed, *scored])
    with projections.connect([log], texts=False) as connection:
        (found,) = held(Facts(connection, {}), "completeness of baseline <= 4")
    assert (found.verdict, found.why) == ("met", "the whole interval says so")


@pytest.mark.parametrize(("judge_failed", "asked"), [(True, 3), (False, 4)])
def test_what_is_missing_is_said_with_its_metric(tmp_path: Path, judge_failed: bool, asked: int) -> None:
    """What a judge failed, and what was not asked yet."""
    answers = [response_event(f"q{number}") for number in range(3)]
    judged = [judgment_event(answer, 3) for answer in answers[: 2 if judge_failed else 3]]
    failed = [judge_failure_event(answers[2])] if judge_failed else []
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"], samples=asked), *answers, *judged, *failed])
    with projections.connect([log], texts=False) as connection:
        assert Facts(connection, {}).missing("baseline").of == f"{asked} answers, 1 without rubric/completeness"


def test_a_latency_says_of_how_many_answers_it_is(tmp_path: Path) -> None:
    """An answer without a time is none of them."""
    answers = [response_event("q1"), response_event("q2"), response_event("q3")]
    answers[2]["duration_ms"] = None
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"], samples=3, repetitions=1), *answers])
    with projections.connect([log]) as connection:
        assert Facts(connection, {}).latency("baseline", 50).of == "2 answers"


def test_the_cost_of_an_answer_is_that_of_those_that_were_paid(tmp_path: Path) -> None:
    """What a rehearsal says is in no mean of real answers, and of a real one the cost has to be known."""
    rehearsed = [response_event(name, cost_usd=9.0) | {"mock": True} for name in ("q1", "q2", "q3")]
    found = []
    for number, cost in enumerate((0.25, None)):
        answers = [*rehearsed, response_event("q1", cost_usd=0.25), response_event("q2", cost_usd=cost)]
        log = write_log(tmp_path / f"{number}.jsonl", [run_event(["baseline"], samples=3, repetitions=1), *answers])
        with projections.connect([log]) as connection:
            found.append(Facts(connection, {}).cost_per_answer("baseline"))
    assert (found[0].value, found[0].of) == (0.25, "2 answers")
    assert found[1].unknown == "the cost of 1 of 2 answers is not known"


def test_costs_and_times_are_held_to_those_of_the_baseline_or_of_before(facts: Facts) -> None:
    """Of all conditions but the baseline, or of those that are named; in another log of each condition."""
    costs, times = held(facts, "cost per answer <= 95% of baseline", "latency p50 of with_docs > 90% of baseline")
    assert (costs.about, costs.verdict) == ("with_docs, beside baseline", "not met")
    assert costs.reference == 0.25
    assert costs.limit == pytest.approx(0.2375)
    assert times.limit == pytest.approx(0.9 * 4.5)
    before = judge_rules([read_rule("cost per answer <= 100% of before")], facts, facts, on_mean=False).findings
    assert [(each.about, each.verdict) for each in before] == [
        ("baseline, beside before", "met"), ("with_docs, beside before", "met"),
    ]  # fmt: skip


def test_a_share_of_a_log_without_another_condition_is_not_met(tmp_path: Path) -> None:
    """A rule that is asked of nothing would pass whatever it says; a reference that is none is a mistake."""
    with projections.connect([write_log(tmp_path / "run.jsonl", [run_event(["baseline"]), response_event()])]) as there:
        (found,) = held(Facts(there, {}), "cost per answer <= 120% of baseline")
        assert (found.verdict, found.why) == ("cannot tell", "nothing to compare: there is no other condition")
        with pytest.raises(UsageError, match="conditions are compared with 'baseline'"):
            held(Facts(there, {}), "cost per answer <= 120% of nonsense")


def test_a_share_of_a_time_is_exact(tmp_path: Path) -> None:
    """101 % of 1.7 s are 1.717 s, whatever the last digit of a product of floats."""
    answers = [response_event(duration_ms=1700), response_event("q1", "with_docs", duration_ms=1717)]
    with projections.connect([write_log(tmp_path / "run.jsonl", [run_event(), *answers])], texts=False) as connection:
        assert verdicts(held(Facts(connection, {}), "latency p50 <= 101% of baseline")) == ["met"]
        assert verdicts(held(Facts(connection, {}), "latency p50 < 101% of baseline")) == ["not met"]


def test_nobody_can_tell_of_a_share_of_what_is_not_known(tmp_path: Path) -> None:
    """The rule names why; the baseline itself is not held to its own."""
    answers = [response_event("q1", cost_usd=None), response_event("q1", "with_docs", cost_usd=0.5)]
    with projections.connect([write_log(tmp_path / "run.jsonl", [run_event(), *answers])], texts=False) as connection:
        (found,) = held(Facts(connection, {}), "cost per answer <= 120% of baseline")
        assert (found.verdict, found.limit) == ("cannot tell", None)
        assert found.why == "of what it is held to: the cost of 1 of 1 answers is not known"
        with pytest.raises(UsageError, match="'baseline' is the baseline itself"):
            held(Facts(connection, {}), "cost per answer of baseline <= 120% of baseline")


def test_a_share_of_failures_may_still_be_turned_round_by_what_is_not_done(tmp_path: Path) -> None:
    """Of a condition that nobody asked yet, or of which much is open, it is not known how much fails."""
    log = [run_event(planned=4), response_event("q1"), judgment_event(response_event("q1"), 4)]
    with projections.connect([write_log(tmp_path / "run.jsonl", log)], texts=False) as connection:
        found = held(Facts(connection, {}), "failures of baseline <= 5%", "failures of baseline <= 80%")
    assert [each.verdict for each in found] == ["cannot tell", "met"]


@pytest.mark.parametrize("metrics", [("a", "b"), ("b", "a")])
def test_an_answer_that_a_judge_has_not_judged_is_no_failure(tmp_path: Path, metrics: tuple[str, str]) -> None:
    """All answers are there, so it is known how many the agent failed, whichever judge comes first."""
    judges = [judge_entry([{"name": name, "min": 1, "max": 5}], name=name, judge_id=name) for name in metrics]
    answers = [response_event(f"q{number}") for number in range(2)]
    judged = [judgment_event(answers[0], {name: 4}, judge_id=name) for name in metrics]
    judged.append(judgment_event(answers[1], {"a": 4}, judge_id="a"))
    log = [run_event(["baseline"], judges=judges), *answers, *judged]
    with projections.connect([write_log(tmp_path / "run.jsonl", log)], texts=False) as connection:
        assert verdicts(held(Facts(connection, {}), "failures <= 5%")) == ["met"]


def test_two_versions_of_a_judge_are_two_rules(tmp_path: Path) -> None:
    """Each finding names the metric as a rule may name it to ask of this one alone."""
    versions = [judge_entry(judge_id=letter * 24) for letter in "ab"]
    answer = response_event()
    log = [run_event(["baseline"], samples=1, judges=versions), answer]
    log += [
        judgment_event(answer, score, judge_id=judge["judge_id"]) for judge, score in zip(versions, (2, 4), strict=True)
    ]
    with projections.connect([write_log(tmp_path / "run.jsonl", log)], texts=False) as connection:
        facts = Facts(connection, {})
        both = held(facts, "completeness >= 1", on_mean=True)
        (second,) = held(facts, f"{'b' * 24}/completeness >= 1", on_mean=True)
    assert [(each.about, each.value) for each in both] == [
        (f"baseline, {'a' * 24}/completeness", 2), (f"baseline, {'b' * 24}/completeness", 4),
    ]  # fmt: skip
    assert (second.about, second.value) == (both[1].about, both[1].value)


@pytest.mark.parametrize("judged", [True, False])
def test_failures_are_of_all_planned_answers(tmp_path: Path, *, judged: bool) -> None:
    """A metric that few answers have makes no larger share of them fail, and without a judge as many do."""
    answers = [response_event(f"q{number}") for number in range(3)]
    log: list[JsonObject] = [run_event(["baseline"], samples=4), *answers, failure_event(response_event("q3"))]
    for answer in answers if judged else ():
        judgment = judgment_event(answer)
        judgment["scores"]["completeness"] |= {"score": None, "not_applicable": "no source"}
        log.append(judgment)
    with projections.connect([write_log(tmp_path / "run.jsonl", log)], texts=False) as connection:
        found = Facts(connection, {}).failures("baseline")
    assert (found.value, found.of, found.worst) == (0.25, "4 answers", None)


@pytest.mark.slow
def test_a_rule_for_each_value_of_a_field_is_asked_of_each_group(tmp_path: Path) -> None:
    """Each group's numbers are those of its samples alone: a gain on the whole hides no topic that got worse."""
    events: list[JsonObject] = [run_event(samples=12)]
    for number in range(12):
        topic = "billing" if number < 6 else "login"
        for condition, score in (("baseline", 3), ("with_docs", 2 if topic == "billing" else 5)):
            sample = {"id": f"q{number}", "question": "?", "answer": "!", "topic": [topic, "all"]}
            answer = response_event(f"q{number}", condition, sample=sample)
            events += [answer, judgment_event(answer, score)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as connection:
        facts = Facts(connection, {})
        found = held(
            facts, "with_docs not lower than baseline by 0.2",
            "with_docs not lower than baseline by 0.2 for each topic",
            "completeness of with_docs >= 3 for each topic", on_mean=True,
        )  # fmt: skip
        assert [(each.about, each.verdict, each.value) for each in found] == [
            ("with_docs minus baseline, rubric/completeness", "met", 0.5),
            ("with_docs minus baseline, rubric/completeness, topic=all", "met", 0.5),
            ("with_docs minus baseline, rubric/completeness, topic=billing", "not met", -1),
            ("with_docs minus baseline, rubric/completeness, topic=login", "met", 2),
            ("with_docs, rubric/completeness, topic=all", "met", 3.5),
            ("with_docs, rubric/completeness, topic=billing", "not met", 2),
            ("with_docs, rubric/completeness, topic=login", "met", 5),
        ]
        (nowhere,) = held(facts, "completeness of with_docs >= 3 for each level")
        assert (nowhere.about, nowhere.verdict, nowhere.why) == (
            "with_docs, rubric/completeness, each level", "cannot tell", "no scores in this group",
        )  # fmt: skip


@pytest.mark.slow
def test_a_group_without_scores_of_a_metric_is_one_of_which_nobody_can_tell(tmp_path: Path) -> None:
    """The other groups are held to the rule, and a metric that no judge gives is a mistake all the same."""
    judges = [judge_entry([{"name": name, "min": 1, "max": 5} for name in ("a", "b")])]
    events: list[JsonObject] = [run_event(samples=2, judges=judges)]
    for number, scores in enumerate(({"a": 4, "b": 4}, {"a": 4})):
        for condition in ("baseline", "with_docs"):
            sample = {"id": f"q{number}", "question": "?", "answer": "!", "topic": f"t{number}"}
            answer = response_event(f"q{number}", condition, sample=sample)
            events += [answer, judgment_event(answer, scores)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as connection:
        facts = Facts(connection, {})
        rules = ("b of with_docs >= 3 for each topic", "with_docs not lower than baseline by 1 for each topic")
        found = held(facts, *rules, on_mean=True)
        assert [(each.about.partition(", ")[2], each.verdict) for each in found] == [
            ("rubric/b, topic=t0", "met"), ("rubric/b, topic=t1", "cannot tell"),
            ("rubric/a, topic=t0", "met"), ("rubric/a, topic=t1", "met"),
            ("rubric/b, topic=t0", "met"), ("rubric/b, topic=t1", "cannot tell"),
        ]  # fmt: skip
        with pytest.raises(UsageError, match="no metric is called 'c'"):
            held(facts, "c >= 3 for each topic")


@pytest.mark.parametrize("asked", [True, False])
def test_a_group_that_nobody_judged_or_asked_is_not_passed_over(tmp_path: Path, asked: bool) -> None:
    """However good the other groups are: without a score in it nobody can tell whether it meets the rule."""
    names = ("baseline", "with_docs")
    samples = [{"id": f"q{n}", "question": f"Why {n}?", "answer": "!", "topic": f"t{n // 5}"} for n in range(10)]
    answers = {name: [response_event(each["id"], name, sample=each) for each in samples] for name in names}
    plan = plan_event([answer["question_id"] for answer in answers["baseline"]])
    judged = [event for name in names for answer in answers[name][:5] for event in (answer, judgment_event(answer, 4))]
    rest = [answer for name in names for answer in answers[name][5:]] if asked else []
    log = [run_event(names, samples=10, plan_id=plan["plan_id"]), plan, *judged, *rest]
    with projections.connect([write_log(tmp_path / "run.jsonl", log)]) as connection:
        rules = ("completeness >= 3 for each topic", "with_docs not lower than baseline by 1 for each topic")
        found = held(Facts(connection, {}), *rules, on_mean=True)
    there, why = (
        ("topic=t1", "no judgments") if asked else ("topic of 5 samples never asked", "no scores in this group")
    )
    assert [(each.about, each.verdict) for each in found] == [
        ("baseline, rubric/completeness, topic=t0", "met"),
        ("with_docs, rubric/completeness, topic=t0", "met"),
        (f"baseline, rubric/completeness, {there}", "cannot tell"),
        (f"with_docs, rubric/completeness, {there}", "cannot tell"),
        ("with_docs minus baseline, rubric/completeness, topic=t0", "met"),
        (f"with_docs minus baseline, rubric/completeness, {there}", "cannot tell"),
    ]
    assert found[2].why == why


def test_groups_are_compared_within_one_log(tmp_path: Path) -> None:
    """Also where the word baseline means the earlier log: there its difference would stand beside each group."""
    log = write_log(tmp_path / "run.jsonl", [run_event(("plain", "with_docs")), response_event("q1", "plain")])
    with projections.connect([log]) as connection:
        facts = Facts(connection, {})
        with pytest.raises(UsageError, match="compared with the baseline of the same log alone"):
            held(facts, "with_docs not lower than baseline by 1 for each id", before=facts)


def test_passes_are_those_of_all_planned_trials(facts: Facts) -> None:
    """Of 8 samples 7 pass both times, one passes once and fails once; the pass rate is pass^1."""
    found = held(facts, "pass^2 of with_docs >= 0.5", "pass@2 of with_docs >= 0.5", "pass rate of with_docs > 0.5")
    assert [each.value for each in found] == [7 / 8, 1, 15 / 16]
    assert verdicts(found) == ["met", "met", "met"]
    assert verdicts(held(facts, "pass^3 of with_docs >= 0.5")) == ["cannot tell"]


def test_where_several_metrics_decide_what_passes_they_are_named(tmp_path: Path) -> None:
    """Another judge makes it another rate: whoever did not think of it sees why; of one there is nothing to say."""
    metrics = [{**METRICS[0], "name": name, "pass_from": 4} for name in ("a", "b")]
    events: list[JsonObject] = [run_event(["plain"], judges=[judge_entry(metrics)])]
    for number, scores in enumerate([{"a": 5, "b": 5}, {"a": 5, "b": 1}]):
        answer = response_event(f"q{number}", "plain")
        events += [answer, judgment_event(answer, scores)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)], texts=False) as connection:
        both, one = Facts(connection, {}), Facts(connection, {"b": 1})
        assert [(each.value, each.of) for each in held(both, "pass rate >= 0.1", "pass@1 >= 0.1")] == [
            (0.5, "2 samples by rubric/a, rubric/b")
        ] * 2
        assert [each.value for each in held(one, "pass rate >= 0.1")] == [1]


@pytest.mark.parametrize(("model", "done", "why"), [
    (None, [], "not judged yet by exact_match: keval judge LOG"),
    (None, ["q0"], "not known of 1 of 2 samples"),
    (None, ["q0", "q1"], None),
    ("a-model", [], None),
])  # fmt: skip
def test_a_judge_that_has_not_begun_may_decide_what_passes(
    tmp_path: Path, model: str | None, done: Sequence[str], why: str | None
) -> None:
    """A program says by itself what passes, at first to nobody; a model's score passes only from one that is named."""
    exact = judge_entry([{**METRICS[0], "name": "exact"}], name="exact_match", judge_id="b" * 24) | {"model": model}
    run = run_event(["plain"], samples=2, judges=[judge_entry([{**METRICS[0], "pass_from": 4}]), exact])
    # What it said of an earlier agent says nothing of this one.
    earlier = response_event("q0", "plain", agent_id="0" * 24)
    events: list[JsonObject] = [earlier, judgment_event(earlier, {"exact": 5}, judge_id="b" * 24), run]
    for name in ("q0", "q1"):
        answer = response_event(name, "plain")
        events += [answer, judgment_event(answer, 5)]
        if name in done:
            verdict = judgment_event(answer, {"exact": 5}, judge_id="b" * 24)
            verdict["scores"]["exact"]["passed"] = True
            events.append(verdict)
    with projections.connect([write_log(tmp_path / "run.jsonl", events)], texts=False) as connection:
        (found,) = held(Facts(connection, {}), "pass rate >= 0.6", on_mean=True)
    assert (found.verdict, found.why) == (("met", found.why) if why is None else ("cannot tell", why))


def test_another_version_of_a_judge_has_begun_for_it(tmp_path: Path) -> None:
    """A program that was mended and judged by `keval judge -j` says what passes; the config's own will not judge."""
    metrics = [{**METRICS[0], "pass_from": 4}]
    old, new = (judge_entry(metrics, judge_id=each * 24) | {"model": None} for each in "bc")
    answer = response_event("q0", "plain")
    log = [
        run_event(["plain"], samples=1, judges=[old]), answer, run_event((), judges=[new]),
        judgment_event(answer, 5, judge_id="c" * 24),
    ]  # fmt: skip
    with projections.connect([write_log(tmp_path / "run.jsonl", log)], texts=False) as connection:
        (found,) = held(Facts(connection, {}), "pass rate >= 0.6", on_mean=True)
    assert (found.verdict, found.value) == ("met", 1)


@pytest.mark.slow
def test_a_missing_score_leaves_open_only_what_it_could_turn_round(tmp_path: Path) -> None:
    """With 1 of 16 scores missing 14 or 15 of 16 trials pass; k trials that were never planned stay unknown."""
    with projections.connect([write(tmp_path / "run.jsonl", lost=1)]) as connection:
        found = held(
            Facts(connection, {}), "pass rate of with_docs >= 0.3", "pass rate of with_docs > 0.99",
            "pass rate of with_docs >= 0.9", "pass^3 of with_docs >= 0",
        )  # fmt: skip
        assert verdicts(found) == ["met", "cannot tell", "cannot tell", "cannot tell"]
        assert (found[0].value, found[0].why) == (None, "not known of 1 of 8 samples, and that changes nothing")
        by_mean = held(Facts(connection, {}), "pass rate >= 0.8", "pass rate of with_docs >= 0.9", on_mean=True)
        assert verdicts(by_mean) == ["not met", "met", "cannot tell"]


def test_a_difference_is_that_of_the_report(facts: Facts) -> None:
    """It is 1.81 with [1.37, 2.26]: higher, by 1 too, and not lower by any margin; nobody can tell about 2."""
    rules = [
        "with_docs higher than baseline", "with_docs higher than baseline by 1", "with_docs higher than baseline by 2",
        "with_docs not lower than baseline by 0.2", "with_docs lower than baseline",
        "completeness of with_docs not higher than baseline by 1",
    ]  # fmt: skip
    found = held(facts, *rules)
    assert verdicts(found) == ["met", "met", "cannot tell", "met", "not met", "not met"]
    assert (found[0].value, found[0].of) == (1.8125, "8 samples paired")


def test_a_margin_that_no_scale_has_is_refused(facts: Facts, tmp_path: Path) -> None:
    """Points of one scale are not those of another; where there are several, it is said how to name one metric."""
    with pytest.raises(UsageError) as error:
        held(facts, "with_docs not lower than baseline by 4.5")
    assert str(error.value).endswith("completeness is 1 to 5, on which nothing differs by 4.5")
    answers = [response_event("q1", name) for name in ("baseline", "with_docs")]
    judge = judge_entry([{"name": "c", "min": 1, "max": 5}, {"name": "share", "min": 0, "max": 1}])
    log = [run_event(samples=1, judges=[judge]), *answers]
    log += [judgment_event(each, {"c": 3, "share": 1}) for each in answers]
    with projections.connect([write_log(tmp_path / "run.jsonl", log)], texts=False) as connection:
        for rule, scale in (("with_docs higher than baseline by 2", "0 to 1, on"), ("share > 3", "0 to 1;")):
            with pytest.raises(UsageError) as error:
                held(Facts(connection, {}), rule)
            assert f"the scale of rubric/share is {scale}" in str(error.value)
            assert "a rule about one metric names it, such as rubric/c" in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("differences", "conclusion", "verdict"),
    [
        ((2, 2, 2, 2, 2, 2, 2, 2), "higher", "met"),
        ((-2, -1, -2, -1, -2, -1, -2, -1), "lower", "not met"),
        ((1, 1, 1, 1, 2), "borderline", "cannot tell"),
        ((1, -1, 1, -1, 1, -1), "no difference shown", "cannot tell"),
    ],
)
def test_without_a_margin_the_conclusion_of_the_report_decides(
    differences: Sequence[int], conclusion: str, verdict: str, tmp_path: Path
) -> None:
    """Where interval and test disagree the gate cannot tell either; where all differ alike both say higher."""
    events: list[JsonObject] = [run_event(samples=len(differences), judges=[judge_entry(METRICS[:1])])]
    for number, difference in enumerate(differences):
        for condition, score in (("baseline", 3), ("with_docs", 3 + difference)):
            answer = response_event(f"q{number}", condition)
            events += [answer, judgment_event(answer, score)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)], texts=False) as connection:
        facts = Facts(connection, {})
        (found,) = held(facts, "with_docs higher than baseline")
        (table,) = facts.tables
    assert (table.differences[0].conclusion, found.verdict) == (conclusion, verdict)


@pytest.mark.slow
def test_a_conclusion_is_qualified_as_in_the_report(tmp_path: Path) -> None:
    """One p of 2/64 is below 5 %; after adjusting for two comparisons it is not, and the gate alone says so."""
    names = ("completeness", "style")
    judge = judge_entry([{"name": name, "min": 1, "max": 5} for name in names])
    events: list[JsonObject] = [run_event(samples=6, judges=[judge])]
    for number, condition in product(range(6), ("baseline", "with_docs")):
        answer = response_event(f"q{number}", condition)
        score = 2.0 if condition == "baseline" else 3.0 + number % 2
        events += [answer, judgment_event(answer, dict.fromkeys(names, score))]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)], texts=False) as connection:
        (found,) = held(Facts(connection, {}), "completeness of with_docs higher than baseline")
    assert (found.verdict, found.why) == ("met", "concluded: higher, not after adjusting for 2 comparisons")


def test_the_baseline_is_the_one_that_the_config_names(tmp_path: Path) -> None:
    """A rule means by `baseline` what the report compares with, and no other condition may be named for it."""
    path = write(tmp_path / "run.jsonl", named="with_docs")
    with projections.connect([path], texts=False) as connection:
        facts = Facts(connection, {})
        (found,) = held(facts, "baseline lower than with_docs")
        with pytest.raises(UsageError, match="compared with 'with_docs', the baseline"):
            held(facts, "with_docs higher than baseline")
    assert (found.verdict, found.value, found.about) == (
        "met", -1.8125, "baseline minus with_docs, rubric/completeness",
    )  # fmt: skip


@pytest.mark.slow
def test_too_much_that_is_missing_leaves_it_open(tmp_path: Path) -> None:
    """With 3 of 16 answers missing a level must hold whatever they had scored, and so must a difference."""
    with projections.connect([write(tmp_path / "run.jsonl", lost=3)]) as connection:
        found = held(Facts(connection, {}), "completeness of with_docs >= 4", "completeness of with_docs >= 2",
                     "with_docs higher than baseline by 1.5", "missing of with_docs <= 5%", on_mean=True)  # fmt: skip
    assert verdicts(found) == ["cannot tell", "met", "cannot tell", "not met"]
    assert found[0].why == "19 % of the answers are missing, which could turn it round"


@pytest.mark.slow
def test_where_nearly_all_is_missing_that_is_the_reason(tmp_path: Path) -> None:
    """Of a judge that scored next to nothing it is not the few equal values why nobody can tell."""
    answers = [response_event(f"q{number}") for number in range(9)]
    events = [run_event(samples=9), *answers, *map(judge_failure_event, answers[6:])]
    failed = [failure_event(response_event(f"q{number}", repetition=1)) for number in range(9, 15)]
    with projections.connect([write_log(tmp_path / "run.jsonl", [*events, *failed])]) as connection:
        (found,) = held(Facts(connection, {}), "completeness of baseline >= 3")
    assert (found.verdict, found.why) == ("cannot tell", "60 % of the answers are missing")


@pytest.mark.parametrize(("samples", "verdicts"), [(8, ["not met", "met", "met"]), (5, 3 * ["cannot tell"])])
def test_a_difference_that_is_the_same_of_every_sample_is_sure(
    tmp_path: Path, samples: int, verdicts: list[str]
) -> None:
    """A collapse of all answers does not pass for want of an interval; of few samples it may be chance."""
    events: list[JsonObject] = [run_event(samples=samples)]
    for number in range(samples):
        for condition, score in (("baseline", 5), ("with_docs", 1)):
            answer = response_event(f"q{number}", condition)
            events += [answer, judgment_event(answer, score)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as connection:
        found = held(Facts(connection, {}), "with_docs not lower than baseline by 0.05",
                     "with_docs lower than baseline by 3.9", "with_docs lower than baseline")  # fmt: skip
    assert [each.verdict for each in found] == verdicts
    few = "every sample differs by the same amount, and 5 samples are too few to rule out chance"
    if samples == 5:
        assert {each.why for each in found} == {few, f"no interval: {few}"}


@pytest.mark.parametrize(
    ("unit", "limit", "value", "shown"),
    [
        ("usd", 0.0015, 0.00152, "$0.00152"),
        ("usd", 0.0015, 0.002, "$0.0020"),
        ("usd", 0.0015, 0.0015, "$0.0015"),
        ("seconds", 0.241, 0.2412, "0.2412 s"),
        ("seconds", 0.5, 0.25, "0.25 s"),
        ("seconds", 0.005, 0.005, "0.005 s"),
        ("share", 0.05, 0.0501, "5.01%"),
        ("share", 0.05, 0.06, "6.0%"),
        ("score", 0.8, 0.7999, "0.7999"),
        ("score", 0.8, 0.8 - 1e-15, "0.80"),
        ("score", 0.8, 0.7, "0.70"),
    ],
)
def test_a_number_close_to_its_limit_does_not_look_like_it(unit: Unit, limit: float, value: float, shown: str) -> None:
    """A line that says «0.80 is not 0.8» would contradict itself; what differs by float noise only is the same."""
    found = Finding("rule", "about", "not met", "why", "<=", limit, unit, value, None, None, "3 answers", 0.95, False)
    line, _ = text(GateResult((found,), mock=False))
    assert f" {shown}, 3 answers" in line


@pytest.mark.slow
def test_an_earlier_log_is_paired_by_sample(facts: Facts, tmp_path: Path) -> None:
    """The same conditions are compared with those of before; one that it lacks, or another judge, is told."""
    with projections.connect([write(tmp_path / "old.jsonl", better=-1)]) as connection:
        before = Facts(connection, {})
        rules = (
            "with_docs not lower than before by 0.2",
            "baseline lower than before",
            "baseline lower than before by 1",
        )
        found = held(facts, *rules, before=before)
        assert [(each.verdict, each.of) for each in found] == [
            ("met", "8 samples paired"), ("cannot tell", "8 samples paired"), ("cannot tell", "8 samples paired"),
        ]  # fmt: skip
        assert found[0].value == pytest.approx(15 / 16)
        assert found[1].why == "no sample differs"
        assert found[2].why == "no interval: no sample differs; with --on mean the number alone decides"


def asked_alone(
    path: Path, scores: Sequence[float], *, clusters: str = "", edited: str = "", mock: bool = False
) -> Path:
    """Write a log of the condition `docs` alone, a judged answer to each sample; the sample `edited` asks otherwise."""
    dataset = {"dataset": {"cluster_key": "cluster"}} if clusters else {}
    run_ = run_event(["docs"], samples=len(scores), config={"name": "test", **dataset})
    events: list[JsonObject] = [run_]
    for number, score in enumerate(scores):
        name = f"q{number}"
        response = response_event(name, "docs", question="Why not?" if name == edited else "Why?", mock=mock)
        if clusters:
            response["sample"]["cluster"] = clusters[number]
        events += [response, judgment_event(response, score)]
    return write_log(path, events)


def since(old: Path, new: Path) -> Finding:
    """Return what becomes of a rule about an earlier log."""
    with projections.connect([old]) as earlier, projections.connect([new]) as later:
        (found,) = held(Facts(later, {}), "completeness of docs higher than before", before=Facts(earlier, {}))
    return found


@pytest.mark.parametrize("clusters", ["", "aabbccc"])
@pytest.mark.slow
def test_an_earlier_log_is_compared_as_by_compare(tmp_path: Path, clusters: str) -> None:
    """Interval, sign-flip test and clusters decide, so that the gate says what `keval compare` concludes."""
    old = asked_alone(tmp_path / "old.jsonl", (1, 2, 1, 2, 1, 2, 3), clusters=clusters)
    new = asked_alone(tmp_path / "new.jsonl", (3, 4, 3, 3, 4, 4, 3), clusters=clusters)
    gate, compared = since(old, new), compare(list(map(as_log_file, (old, new))))
    ((difference,),) = (table.differences for table in compared.metrics)
    assert (gate.value, gate.lower, gate.upper) == (difference.difference, difference.ci_lower, difference.ci_upper)
    assert (difference.conclusion, gate.verdict) == (("borderline", "cannot tell") if clusters else ("higher", "met"))
    assert gate.of == ("7 samples paired in 3 clusters" if clusters else "7 samples paired")


def test_a_mean_says_in_how_many_clusters_its_samples_are(tmp_path: Path) -> None:
    """Its interval rests on them, however many samples there are."""
    log = asked_alone(tmp_path / "log.jsonl", (1, 2, 1, 2, 1, 2, 3), clusters="aabbccc")
    with projections.connect([log], texts=False) as connection:
        (found,) = held(Facts(connection, {}), "completeness >= 1")
    assert found.of == "7 samples in 3 clusters"


@pytest.mark.slow
def test_without_a_partner_before_nothing_is_known(tmp_path: Path) -> None:
    """Values in both logs are no pair where each answers another question, and that is said."""
    old, new = asked_alone(tmp_path / "old.jsonl", (1,)), asked_alone(tmp_path / "new.jsonl", (3,), edited="q0")
    found = since(old, new)
    assert (found.verdict, found.why) == (
        "cannot tell", "no sample that was asked and judged alike has a value in both logs",
    )  # fmt: skip


@pytest.mark.slow
def test_an_edited_question_has_no_partner_before(tmp_path: Path) -> None:
    """It is left out of the pairs, and so is one with another golden answer; a rehearsal is compared with nothing."""
    old = asked_alone(tmp_path / "old.jsonl", (1, 2, 1, 2, 1, 2, 3))
    new = asked_alone(tmp_path / "new.jsonl", (3, 4, 3, 3, 4, 4, 3), edited="q2")
    assert since(old, new).of == "6 samples paired"
    asked = response_event("q2", "docs", question="Why not?")
    others = [event for line in new.read_text().splitlines() if '"q2"' not in line for event in [json.loads(line)]]
    failed = write_log(tmp_path / "failed.jsonl", [*others, failure_event(asked)])
    assert since(old, failed).of == "6 samples paired"
    corrected = [
        event | {"sample": edited, "sample_sha256": ids.sample_sha256(edited)}
        for event in map(json.loads, new.read_text().splitlines())
        for edited in [event.get("sample", {}) | {"answer": "Other."}]
        if event.get("sample", {}).get("id") == "q4"
    ]
    others = [event for line in new.read_text().splitlines() if '"q4"' not in line for event in [json.loads(line)]]
    rejudged = [*others, *corrected, *(judgment_event(answer, 4) for answer in corrected)]
    assert since(old, write_log(tmp_path / "corrected.jsonl", rejudged)).of == "5 samples paired"
    rehearsed = asked_alone(tmp_path / "mock.jsonl", (3, 4, 3, 3, 4, 4, 3), mock=True)
    assert since(old, rehearsed).why == "one of the two logs is a rehearsal"


def test_what_a_mock_said_of_a_former_condition_makes_no_rehearsal_of_a_log(tmp_path: Path) -> None:
    """As in the report, only the conditions of now count."""
    former = response_event("q1", "docs", mock=True)
    now = response_event("q1", "docs", prompt="Think.")
    runs = [run_event(["docs"], samples=1), former, run_event({"docs": "Think."}, samples=1), now]
    with projections.connect([write_log(tmp_path / "run.jsonl", runs)]) as connection:
        assert (Facts(connection, {}).mock, compose(connection).mock) == (False, False)
    with projections.connect([write_log(tmp_path / "mock.jsonl", runs[:2])]) as connection:
        assert (Facts(connection, {}).mock, compose(connection).mock) == (True, True)


def test_names_that_the_log_lacks_are_all_told(facts: Facts) -> None:
    """Metrics, conditions, references and limits off the scale, with what may be meant."""
    with pytest.raises(UsageError) as error:
        held(
            facts, "complete >= 4", "completeness of with_doc >= 4", "completeness >= 6", "with_docs higher than other",
            "baseline higher than baseline", "with_docs higher than before",
        )  # fmt: skip
    said = "\n".join(error.value.problems)
    assert len(error.value.problems) == 6
    for part in ("did you mean 'completeness'?", "did you mean 'with_docs'?", "1 to 5", "'baseline', the baseline",
                 "is the baseline itself", "--baseline LOG"):  # fmt: skip
        assert part in said


@pytest.mark.slow
def test_a_log_that_says_nothing_meets_no_rule(tmp_path: Path) -> None:
    """An empty log is an error, and of one that was never judged nobody can tell."""
    with (
        projections.connect([write_log(tmp_path / "empty.jsonl", [])], texts=False) as connection,
        pytest.raises(InputError, match="nothing to hold to rules"),
    ):
        held(Facts(connection, {}), "missing <= 5%")
    unjudged = write_log(tmp_path / "run.jsonl", [run_event(judges=[]), response_event()])
    with projections.connect([unjudged], texts=False) as connection:
        found = held(Facts(connection, {}), "missing <= 5%", "with_docs higher than baseline", "pass rate >= 0")
    assert set(verdicts(found)) == {"cannot tell"}
    assert len(found) == 5


@pytest.mark.slow
def test_what_was_asked_again_after_failures_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By the next run a condition that fails often has fewer failures, and meets more rules: what is kept says so."""
    answered = response_event("q1")
    for events, warned in (([answered], False), ([failure_event(answered), answered], True)):
        log = write_log(tmp_path / "run.jsonl", [run_event(), *events])
        run(["gate", str(log), "--rule", "failures <= 100%"])
        assert ("baseline: 1 answer came in a later run" in capfd.readouterr().err) is warned
        for form in ("markdown", "json", "junit"):
            run(["gate", str(log), "--rule", "failures <= 100%", "-f", form])
            assert ("baseline: 1 answer came in a later run" in capfd.readouterr().out) is warned
    run(["gate", str(write_log(tmp_path / "new.jsonl", [run_event(), answered])), "--baseline", str(log),
         "--rule", "failures <= 100%"])  # fmt: skip
    assert f"{log}: baseline: 1 answer came in a later run" in capfd.readouterr().err


@pytest.mark.slow
def test_calls_of_tasks_that_all_failed_are_counted(tmp_path: Path) -> None:
    """As where each call breaks the server: the report counts them, so a gate does."""
    use = {"status": "failed", "offered": ["search"], "called": 2, "failed": 2}
    lost = failure_event(response_event("q1", "with_docs"), "mcp_failed", mcp={"docs": use})
    for answers in ([], [response_event("q2", "with_docs")]):
        log = write_log(tmp_path / "run.jsonl", [run_event(), response_event("q1"), lost, *answers])
        with projections.connect([log], texts=False) as connection:
            (found,) = held(Facts(connection, {}), "tool errors of with_docs <= 10%")
        assert (found.verdict, found.value, found.of) == ("not met", 1, "2 calls")


@pytest.mark.slow
def test_a_server_that_never_helped_is_said_beside_the_rules(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Rules about scores may be met all the same: they are of answers without the server."""
    use = {"status": "connected", "offered": ["search"], "called": 3, "failed": 3}
    log = write_log(tmp_path / "run.jsonl", [run_event(), response_event("q1", "with_docs", mcp={"docs": use})])
    run(["gate", str(log), "--rule", "failures <= 100%"])
    assert "with_docs: 3 of 3 calls of docs failed; the scores say nothing" in capfd.readouterr().err


def test_a_warning_is_one_line_in_junit() -> None:
    """A name with a line end in it forges no second one."""
    told = "".join(junit(GateResult((), mock=False, warnings=("a\nb: 1 answer", "c"))))
    assert "a\\nb: 1 answer\nc" in told


@pytest.mark.slow
def test_the_command_says_it_by_its_exit_code(log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """0 where all rules are met, 1 where one is not, 7 where nobody can tell of one, 2 without rules."""
    for rule, code in (("> 2", 0), (">= 3", 1), (">= 2.5", 7)):
        assert run(["gate", str(log), "--rule", f"completeness of baseline {rule}"]) == code
    both = ["--rule", "completeness of baseline >= 3", "--rule", "completeness of baseline >= 2.5"]
    assert run(["gate", str(log), *both]) == 1
    assert run(["gate", str(log)]) == 0, "the config's own rules, on the mean"
    assert "completeness of baseline >= 2.5" in capfd.readouterr().out
    assert run(["gate", str(write(tmp_path / "none.jsonl"))]) == 2
    rules = tmp_path / "rules.yaml"
    rules.write_text("- missing <= 5%\n- failures <= 1%\n")
    assert run(["gate", str(log), "--rules", str(rules), "--baseline", str(log)]) == 1
    assert run(["gate", str(log), "--preset", "retrieval-minimum"]) == 2
    assert "no metric is called 'retrieved_hit_rate'" in capfd.readouterr().err


@pytest.mark.slow
def test_every_format_says_the_same(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each has a part per rule; in JUnit what is not met is a failure, and what nobody can tell an error."""
    rules = [f"completeness of baseline {rule}" for rule in ("> 2", ">= 3", ">= 2.5")]
    said = {}
    for written in ("text", "markdown", "json", "junit"):
        assert run(["gate", str(log), "-f", written, *(part for rule in rules for part in ("--rule", rule))]) == 1
        said[written] = capfd.readouterr().out
    found = json.loads(said["json"])
    assert (found["verdict"], [each["verdict"] for each in found["findings"]]) == (
        "not met", ["met", "not met", "cannot tell"],
    )  # fmt: skip
    suite = ET.fromstring(said["junit"])  # noqa: S314 - made here
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case.get("name") for case in suite.iter("testcase")] == rules
    assert [line.split("  ")[0] for line in said["text"].splitlines()] == [
        "met", "not met", "cannot tell", "gate: 1 met, 1 not met, 1 cannot tell (intervals are of 95 %)",
    ]  # fmt: skip
    assert said["markdown"].count("\n| ") == 5
