from __future__ import annotations

import json
from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.projections.log_file import as_log_file
from keval.reports.condition_trials import condition_trials
from keval.reports.trials import READ, SampleTrials, sample_trials
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
from tests.conftest import Keval

pytestmark = pytest.mark.slow  # each test makes the tables of a log

JUDGES = [judge_entry([{**METRICS[0], "pass_from": 4}])]
PASS, FAIL, TIMEOUT, OUTAGE, UNJUDGED = "pass", "fail", "timeout", "infra_error", "judge_error"


def found(tmp_path: Path, k: int, *outcomes: str, samples: int = 1) -> SampleTrials:
    """Return what is said of a sample whose trials ended so; of `samples` that are planned only this one was tried."""
    asked = [response_event(f"q{number}") for number in range(1, samples + 1)]
    plan = plan_event([each["question_id"] for each in asked])
    run = run_event(("baseline",), samples=samples, repetitions=len(outcomes), judges=JUDGES, plan_id=plan["plan_id"])
    events: list[JsonObject] = [run, plan]
    for repetition, outcome in enumerate(outcomes, 1):
        answer = response_event(repetition=repetition)
        match outcome:
            case "pass" | "fail":
                events += [answer, judgment_event(answer, 4 if outcome == PASS else 3)]
            case "judge_error":
                events += [answer, judge_failure_event(answer)]
            case kind:
                events += [failure_event(answer, kind)]
    log = as_log_file(write_log(tmp_path / "run.jsonl", events))
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        (sample,) = sample_trials(connection, [log], k, len(outcomes), pass_from={}, conditions=["baseline"])
    return sample


def test_a_condition_may_have_any_name(tmp_path: Path) -> None:
    """A name is data: a log from elsewhere whose condition holds a line end and SQL has trials, and runs nothing."""
    written = tmp_path / "written.txt"
    name = f"docs\ncopy (select 1) to '{written}'; --"
    events = [run_event([name], samples=1, judges=JUDGES), answer := response_event(condition=name)]
    log = as_log_file(write_log(tmp_path / "run.jsonl", [*events, judgment_event(answer, 4)]))
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        (sample,) = sample_trials(connection, [log], 1, 1, pass_from={}, conditions=[name])
    assert (sample.counts.why_unknown, written.exists()) == (None, False)


@pytest.mark.parametrize(
    ("outcomes", "k", "at", "every"),
    [
        ((PASS, PASS, FAIL, FAIL), 2, 5 / 6, 1 / 6),
        ((PASS, PASS, PASS), 3, 1, 1),
        ((FAIL, FAIL, FAIL), 3, 0, 0),
        ((PASS, TIMEOUT), 2, 1, 0),
        ((TIMEOUT, TIMEOUT), 2, 0, 0),
    ],
)
def test_a_trial_that_the_agent_failed_is_a_failed_trial(
    tmp_path: Path, outcomes: tuple[str, ...], k: int, at: float, every: float
) -> None:
    """It does not shrink n: the chances are those of all planned trials, and flakiness is their distance."""
    sample = found(tmp_path, k, *outcomes)
    assert sample.counts.pass_at_k == pytest.approx(at)
    assert sample.counts.pass_every_k == pytest.approx(every)
    assert sample.counts.flakiness == pytest.approx(at - every)


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (OUTAGE, "1 of 2 trials not measured (infra_error)"),
        (UNJUDGED, "1 of 2 trials not measured (judge_error)"),
    ],
)
def test_a_trial_that_was_not_measured_did_not_fail(tmp_path: Path, outcome: str, why: str) -> None:
    """A broken judge or an outage makes the sample unknown, with the reason, and never a failure of the agent."""
    said = found(tmp_path, 2, PASS, outcome).as_json()
    assert (said["passAtK"], said["passExpK"], said["passRate"], said["reason"]) == (None, None, None, why)
    assert [trial["pass"] for trial in said["trials"]] == [True, None]


def test_what_a_judge_has_still_to_say_is_not_known(tmp_path: Path) -> None:
    """Of two judges one has judged everything: an answer that it passes may yet fail by the other one."""
    both = [judge_entry([{**METRICS[0], "pass_from": 4}], judge_id=letter * 24, name=letter) for letter in "ab"]
    answers = [response_event(f"q{number}") for number in range(3)]
    plan = plan_event([each["question_id"] for each in answers])
    events: list[JsonObject] = [run_event(("baseline",), samples=3, judges=both, plan_id=plan["plan_id"]), plan]
    for answer, said in zip(answers, ({"a": 4, "b": 4}, {"a": 4}, {"a": 3}), strict=True):
        events += [answer, *(judgment_event(answer, score, judge_id=judge * 24) for judge, score in said.items())]
    log = as_log_file(write_log(tmp_path / "run.jsonl", events))
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        trials = [
            each.rows[0] for each in sample_trials(connection, [log], 1, 1, pass_from={}, conditions=["baseline"])
        ]
    assert [(each["passed"], each["why"]) for each in trials] == [(True, None), (None, "not judged"), (False, None)]


def test_k_above_the_trials_is_null(tmp_path: Path) -> None:
    """The lucky subset is never averaged over: neither k of fewer trials, nor the samples that happen to be done."""
    assert found(tmp_path, 3, PASS, PASS).counts.why_unknown == "k exceeds trials (3 of 2)"
    (whole,) = condition_trials([found(tmp_path, 2, PASS, PASS).counts])
    (part,) = condition_trials([found(tmp_path, 2, PASS, PASS, samples=3).counts])
    assert (whole.pass_at_k, whole.unknown, part.pass_at_k, part.samples, part.unknown) == (1, 0, None, 3, 2)


def test_only_the_trials_that_are_asked_for_count(tmp_path: Path) -> None:
    """A log may hold more trials, and other conditions, of another config: neither is counted."""
    found(tmp_path, 2, PASS, PASS, FAIL)
    log = as_log_file(tmp_path / "run.jsonl")
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        (two,) = sample_trials(connection, [log], 2, 2, pass_from={}, conditions=["baseline"])
        assert (two.counts.passes, two.counts.pass_every_k) == (2, 1)
        assert list(sample_trials(connection, [log], 2, 2, pass_from={}, conditions=["other"])) == []


def test_a_row_has_the_names_of_agent_eval_harness(tmp_path: Path) -> None:
    """`trials` with `trialNum`, `output`, `pass`, `score`; the plug-in forms stand beside the unbiased ones."""
    said = found(tmp_path, 2, PASS, FAIL, PASS, FAIL).as_json()
    trial = said["trials"][0]
    assert (said["id"], said["input"], said["hint"], said["k"], said["n"]) == ("q1", "Why?", "Because.", 2, 4)
    assert (said["passRate"], said["passAtKPlugin"], said["passExpKPlugin"]) == (0.5, 0.75, 0.25)
    assert (trial["trialNum"], trial["output"], trial["pass"], trial["score"]) == (1, "Because.", True, 4)
    assert trial["scores"] == {"rubric/completeness": 4}
    json.dumps(said)


def test_the_command_asks_each_question_n_times(keval: Keval, tmp_path: Path) -> None:
    """What is there is not asked again, fewer trials count only their own, and k above n is a usage error."""
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "Rome", "answer": "Rome"}\n')
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\njudge: {type: exact_match}\n'
    )
    done = keval("trials", "eval.yaml", "-k", "2", "--trials", "3", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "metrics that decide whether a trial passes: exact_match/exact_match",
        "plain  a  3/3 passed  pass@2 100.0%  pass^2 100.0%",
        "plain: 1 sample, pass@2 100.0%, pass^2 100.0%, 0 flaky",
    ]
    before = (tmp_path / "t.jsonl").read_bytes()
    fewer = keval("trials", "eval.yaml", "-k", "2", "-q", "-f", "jsonl")
    assert json.loads(fewer.stdout)["n"] == 2
    added = (tmp_path / "t.jsonl").read_bytes().removeprefix(before).splitlines()
    assert [json.loads(line)["type"] for line in added] == ["run"]
    assert keval("trials", "eval.yaml", "-k", "3", "--trials", "2").returncode == 2


def test_a_sample_that_no_judge_is_for_is_in_no_share(keval: Keval, tmp_path: Path) -> None:
    """It is told why nothing is said of it, counted apart, and makes no other sample unknown."""
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "a", "question": "Rome", "answer": "Rome", "kind": "word"}\n'
        '{"id": "b", "question": "Why?", "answer": "So.", "kind": "prose"}\n'
    )
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\n'
        "judge: {type: exact_match, only_for: {kind: word}}\n"
    )
    done = keval("trials", "eval.yaml", "-k", "2", "-q")
    _, one, other, summary = done.stdout.splitlines()
    assert one == "plain  a  2/2 passed  pass@2 100.0%  pass^2 100.0%"
    assert other == "plain  b  0/2 passed  no judge is for it"
    assert summary.startswith("plain: 1 sample, pass@2 100.0%, pass^2 100.0%, ")
    assert summary.endswith(", 0 flaky; 1 more that no judge judges")


def test_a_threshold_that_means_nothing_is_told_before_anything_is_asked(keval: Keval, tmp_path: Path) -> None:
    """`--pass-from` with a name or a score that no judge of the config has ends with 2, and no log is begun."""
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "Rome", "answer": "Rome"}\n')
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\njudge: {type: exact_match}\n'
    )
    for command in ("trials", "validate-refs"):
        for given in ("exact=1", "exact_match=2"):
            done = keval(command, "eval.yaml", "-q", "--pass-from", given)
            assert (done.returncode, len(list(tmp_path.glob("*.jsonl")))) == (2, 1), done.stderr
        assert keval(command, "eval.yaml", "-q", "--pass-from", "exact_match/exact_match=1").returncode == 0
        (tmp_path / "t.jsonl").unlink(missing_ok=True)
