"""What the trials of a condition come to: one number with one interval, that of the gate and of `aggregate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from keval import projections
from keval.gate.facts import Facts
from keval.ids import JsonObject, sample_sha256
from keval.projections.log_file import as_log_file
from keval.reports.condition_trials import condition_trials
from keval.reports.trials import alike_trials, sample_trials
from keval.sampling import Sampling
from keval.stats.aggregates import aggregate
from keval.stats.asked import Asked
from tests.builders import (
    METRICS,
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    write_log,
)
from tests.conftest import Keval

pytestmark = pytest.mark.slow  # each test makes the tables of a log

JUDGES = [judge_entry([{**METRICS[0], "pass_from": 4}])]


@pytest.mark.parametrize("config", [{}, {"dataset": {"cluster_key": "cluster"}}])
def test_shares_and_intervals_are_those_of_aggregate(tmp_path: Path, config: JsonObject) -> None:
    """pass@k and pass^k of a condition are one number each, with one interval, also of samples that belong together."""
    run = run_event(("baseline",), samples=6, repetitions=2, judges=JUDGES, config={"name": "test"} | config)
    events: list[JsonObject] = [run]
    for number in range(6):
        for repetition in (1, 2):
            answer = response_event(f"q{number}", repetition=repetition)
            answer["sample"] |= {"cluster": f"c{number // 2}"}
            answer["sample_sha256"] = sample_sha256(answer["sample"])
            events += [answer, judgment_event(answer, 4 if number // 2 + repetition > 2 else 3)]
    log = as_log_file(write_log(tmp_path / "run.jsonl", events))
    with projections.connect([log]) as connection:
        (said,) = condition_trials(alike_trials(connection, 2, 2, {}, ["baseline"]))
        of_samples = list(sample_trials(connection, [log], 2, 2, pass_from={}, conditions=["baseline"]))
        body = next(aggregate(connection, levels={"condition"}, asked=Asked(full=True, ks=(2,))))
    assert list(condition_trials(sample.counts for sample in of_samples)) == [said]
    known = {each["statistic"]: each for each in body["pass_k"]}
    at, every = known["pass@k"], known["pass^k"]
    assert every["ci_method"] == ("wilson_clustered" if config else "wilson")
    assert (said.pass_at_k, *said.pass_at_k_interval) == pytest.approx((at["value"], at["ci_lower"], at["ci_upper"]))
    assert (said.pass_every_k, *said.pass_every_k_interval) == pytest.approx(
        (every["value"], every["ci_lower"], every["ci_upper"])
    )


@pytest.mark.parametrize(
    ("clusters", "reason"), [((None, "a", "b", "c", "d"), "samples without a cluster: 1"), ("aaaaa", "one cluster")]
)
def test_where_clusters_tell_too_little_there_is_no_interval(
    tmp_path: Path, clusters: Sequence[str | None], reason: str
) -> None:
    """As in `aggregate`, and with its reason: a sample without a cluster is no cluster of its own."""
    run = run_event(("baseline",), samples=5, repetitions=1, judges=JUDGES)
    run["config"] = {"name": "test", "dataset": {"cluster_key": "cluster"}}
    events: list[JsonObject] = [run]
    for number, cluster in enumerate(clusters):
        answer = response_event(f"q{number}")
        answer["sample"] |= {"cluster": cluster}
        answer["sample_sha256"] = sample_sha256(answer["sample"])
        events += [answer, judgment_event(answer, 4 if number else 3)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as connection:
        (said,) = condition_trials(alike_trials(connection, 1, 1, {}, ["baseline"]))
        body = next(aggregate(connection, levels={"condition"}, asked=Asked(full=True, ks=(1,))))
        told = Facts(connection, {}).passes("baseline", 1, every=True)
    assert {(each["ci_lower"], each["reason"]) for each in body["pass_k"]} == {(None, reason)}
    assert (said.pass_at_k, said.pass_at_k_interval, said.why_no_interval) == (0.8, (None, None), reason)
    assert (told.value, told.lower, told.unknown) == (0.8, None, reason)


AGENT = """
def query(question, prompt, sample):
    if prompt == "bad" and question.endswith("de"):
        raise RuntimeError("broke")
    return question
"""
PYTHON_JUDGES = """
def passes(case):
    return {"pass": True}


def grades(case):
    if case["question"] == "q3 en":
        raise RuntimeError("broke")
    return {"score": 0.5}
"""


def passing(keval: Keval, folder: Path, *judges: str) -> dict[str, tuple[float | None, int]]:
    """Return the pass rate and the number of samples of each condition, where `bad` fails what is not English."""
    (folder / "agent.py").write_text(AGENT)
    (folder / "judges.py").write_text(PYTHON_JUDGES)
    samples = [
        {"id": f"s{number}", "question": f"q{number} {lang}", "answer": "x", "lang": lang}
        for number, lang in enumerate(["en", "de"] * 6)
    ]
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(sample)}\n" for sample in samples))
    (folder / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: python, function: 'agent.py:query'}\n"
        "conditions: {good: {system_prompt: good}, bad: {system_prompt: bad}}\n"
        f"judges: [{', '.join(judges)}]\nexecution: {{repetitions: 2, retry: {{max_attempts: 1}}}}\n"
    )
    keval("run", "eval.yaml", "-o", "log.jsonl", "-q")
    log = as_log_file(folder / "log.jsonl")
    with projections.connect([log]) as connection:
        alike = list(alike_trials(connection, 1, 2, {}, ["good", "bad"]))
        of_samples = [
            each.counts for each in sample_trials(connection, [log], 1, 2, pass_from={}, conditions=["good", "bad"])
        ]
    said, same = (
        {each.condition: (each.pass_every_k, each.samples) for each in condition_trials(trials)}
        for trials in (alike, of_samples)
    )
    assert said == same
    return said


ENGLISH = "{type: python, name: english, function: 'judges.py:passes', only_for: {lang: en}}"
SOME = "{type: python, name: some, function: 'judges.py:passes', sample_rate: 0.4}"
GRADER = "{type: python, name: grader, function: 'judges.py:grades'}"


def test_what_an_agent_fails_counts_only_where_a_judge_is_for_it(keval: Keval, tmp_path: Path) -> None:
    """Both conditions are of the same samples: one that no judge is for is in neither, be it answered or failed."""
    found = passing(keval, tmp_path, ENGLISH)
    assert found == {"good": (1.0, 6), "bad": (1.0, 6)}


def test_a_judge_that_is_not_for_a_sample_takes_no_trial_out_of_the_share_of_another(
    keval: Keval, tmp_path: Path
) -> None:
    """A sample has the trials that any judge is for and has in its share, under both conditions the same."""
    share = Sampling(0.4)
    drawn = {f"s{number}" for number in range(12) if share.has(f"s{number}", 1) or share.has(f"s{number}", 2)}
    found = passing(keval, tmp_path, ENGLISH, SOME)
    judged = {f"s{number}" for number in range(0, 12, 2)} | drawn
    assert found["good"] == (1.0, len(judged))
    assert found["bad"][0] == pytest.approx(6 / len(judged))
    assert found["bad"][1] == len(judged)
    assert 6 < len(judged) < 12


def test_a_judge_that_only_grades_leaves_no_trial_unknown(keval: Keval, tmp_path: Path) -> None:
    """Where it fails, nothing is missing of whether the answer passes: the other judge says that."""
    every = ENGLISH.replace(", only_for: {lang: en}", "")
    assert passing(keval, tmp_path, every, GRADER) == {"good": (1.0, 12), "bad": (0.5, 12)}


def test_a_condition_that_failed_throughout_has_the_pass_rate_of_the_gate(keval: Keval, tmp_path: Path) -> None:
    """The config, or another condition, says what passes: the numbers of the judge's metric say so, too."""
    found = passing(keval, tmp_path, SOME.replace("0.4", "1.0"))
    assert found["bad"] == (0.5, 12)
    (tmp_path / "agent.py").write_text(AGENT.replace(' and question.endswith("de")', ""))
    (tmp_path / "log.jsonl").unlink()
    keval("run", "eval.yaml", "-o", "log.jsonl", "-q")
    events = [json.loads(line) for line in keval("aggregate", "log.jsonl").stdout.splitlines()]
    of = {event["condition"]: event["pass_k"] for event in events if event["type"] == "aggregate"}
    assert {each["value"] for each in of["bad"]} == {0.0}
    assert {each["value"] for each in of["good"]} == {1.0}
