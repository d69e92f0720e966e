from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval import projections
from keval.config.model import JudgeConfig
from keval.config.reader import judge_from_description
from keval.ids import JsonObject
from keval.judges.exact_match import ExactMatch
from keval.preparation.jobs import Backlog, jobs
from keval.preparation.unjudged import Unjudged
from keval.projections.sql_file import load
from keval.reports.condition_trials import ConditionTrials, condition_trials
from keval.reports.trials import alike_trials
from keval.sampling import Sampling
from tests.builders import (
    ask,
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
from tests.tasks import past_of

NAMES = [f"s{number}" for number in range(300)]
SHARES = st.floats(min_value=0, max_value=1, exclude_min=True)


def judge(rate: float, seed: int = 0) -> JudgeConfig:
    """Return a judge that judges a share of all tasks."""
    return JudgeConfig("exact", "exact_match", ExactMatch(), 1, {}, sampling=Sampling(rate, seed))


def chosen(rate: float, seed: int = 0, repetition: int = 1) -> set[str]:
    return {name for name in NAMES if Sampling(rate, seed).has(name, repetition)}


def test_a_share_is_stable_and_a_larger_one_has_all_of_a_smaller_one() -> None:
    """A tenth is about a tenth; other samples, repetitions and seeds do not change who is in it, and half holds it."""
    tenth, half = chosen(0.1), chosen(0.5)
    assert 10 < len(tenth) < 60
    assert tenth < half < chosen(1) == set(NAMES)
    assert tenth not in (chosen(0.1, seed=1), chosen(0.1, repetition=2))


@pytest.mark.slow
@settings(max_examples=8)
@given(SHARES, st.integers(-(2**31), 2**31), st.lists(st.text(min_size=1), min_size=20, max_size=40, unique=True))
def test_sql_draws_as_python_does(rate: float, seed: int, names: list[str]) -> None:
    """What is missing in a log is asked in SQL, and what a response brings in Python: both choose the same tasks."""
    asked = [response_event(name.encode("utf-8", "replace").decode(), repetition=2) for name in names]
    one = judge(rate, seed)
    with past_of(asked) as past:
        missing = Unjudged(past, [one], mock=False).missing(load("execution", "planned_responses", everything="True"))
        in_sql = [job.judgment_id for job in Backlog(past.log, missing, [one])]
    assert in_sql == [job.judgment_id for response in asked for job in jobs(response, [one], ())]


def test_the_views_know_the_same_share() -> None:
    """The threshold that the views compare with is the one of Python, to the last digit."""
    query = "select format('{:013x}', floor(? * (1::bigint << 52))::bigint)"
    with duckdb.connect() as connection:
        for rate in (0.1, 1 / 3, 0.999999, 2**-52):
            assert connection.execute(query, [rate]).fetchall() == [(f"{int(rate * 16**13):013x}",)]


def counted(tmp_path: Path, *events: JsonObject) -> JsonObject:
    """Return what a log's only condition and metric come to."""
    log = write_log(tmp_path / "run.jsonl", events)
    (row,) = ask(log, "from condition_scores")
    return row


@pytest.fixture
def answers() -> list[JsonObject]:
    return [response_event(name) for name in NAMES[:30]]


def run_of(
    rate: float, answers: list[JsonObject], repetitions: int = 1, conditions: Sequence[str] = ("baseline",)
) -> list[JsonObject]:
    """Return a run that plans the answers, whose judge judges a share of them."""
    described, asked = judge(rate).described(), list(dict.fromkeys(answer["question_id"] for answer in answers))
    plan = plan_event(asked)
    run = run_event(
        conditions, samples=len(asked), repetitions=repetitions, judges=[described], plan_id=plan["plan_id"]
    )
    return [run, plan]


def judged(answer: JsonObject) -> JsonObject:
    score = {"score": 1, "reasoning": None, "min": 0, "max": 1, "passed": True}
    return judgment_event(answer, judge_id=judge(1).judge_id) | {"scores": {"exact_match": score}}


@pytest.mark.slow
def test_what_was_not_chosen_is_not_sampled(tmp_path: Path, answers: list[JsonObject]) -> None:
    """It is neither missing nor failed: not in the mean, not in the bounds, and counted under its own name."""
    sampled = [answer for answer in answers if answer["sample"]["id"] in chosen(0.5)]
    row = counted(tmp_path, *run_of(0.5, answers), *answers, *map(judged, sampled))
    left = len(answers) - len(sampled)
    assert (row["planned"], row["scored"], row["not_sampled"], row["not_done"]) == (30, len(sampled), left, 0)
    assert (row["mean"], row["mean_lower"], row["mean_upper"]) == (1, 1, 1)


@pytest.mark.slow
def test_a_failed_task_that_was_not_chosen_is_not_sampled_either(tmp_path: Path, answers: list[JsonObject]) -> None:
    """Were all failures counted, and a share of the answers, the mean would be too low."""
    sampled = [answer for answer in answers if answer["sample"]["id"] in chosen(0.5)]
    failed = [failure_event(answer) for answer in answers if answer not in sampled]
    row = counted(tmp_path, *run_of(0.5, answers), *sampled, *failed, *map(judged, sampled))
    assert (row["agent_failed"], row["not_sampled"], row["mean"]) == (0, len(failed), 1)


@pytest.mark.slow
def test_the_newest_run_says_which_share_is_wanted(tmp_path: Path, answers: list[JsonObject]) -> None:
    """After a run without a share, what was not chosen is not done yet; its judgments stay."""
    sampled = [answer for answer in answers if answer["sample"]["id"] in chosen(0.5)]
    whole = [run_of(1, answers)[0]]
    row = counted(tmp_path, *run_of(0.5, answers), *answers, *map(judged, sampled), *whole)
    assert (row["not_sampled"], row["not_done"], row["scored"]) == (0, len(answers) - len(sampled), len(sampled))


def test_a_smaller_share_counts_as_if_no_more_had_been_judged(tmp_path: Path, answers: list[JsonObject]) -> None:
    """Scores outside of it are left out as failures are: else the mean would be of all that went well."""
    sampled = [answer for answer in answers if answer["sample"]["id"] in chosen(0.5)]
    failed = answers[::3]
    events = [failure_event(answer) if answer in failed else answer for answer in answers]
    given = [answer for answer in answers if answer not in failed]
    from_the_start = counted(
        tmp_path, *run_of(0.5, answers), *events, *(judged(answer) for answer in given if answer in sampled)
    )
    lowered = counted(tmp_path, *run_of(1, answers), *events, *map(judged, given), *run_of(0.5, answers))
    assert (lowered["agent_failed"], lowered["scored"]) == (
        sum(answer in sampled for answer in failed),
        sum(answer in sampled for answer in given),
    )
    assert lowered == from_the_start


@pytest.mark.slow
def test_a_run_after_a_judge_command_says_the_share(tmp_path: Path, answers: list[JsonObject]) -> None:
    """`keval judge` plans nothing; it ranks by where it stands, as any other run."""
    run, plan = run_of(1, answers)
    judging = run_event((), judges=[judge(0.5).described()], command="judge", run_id="1" * 16)
    later = run | {"run_id": "2" * 16, "id": "2" * 24}
    for more, share in (([judging], 0.5), ([judging, later], 1)):
        row = counted(tmp_path, run, plan, *answers, *map(judged, answers), *more)
        sampled = len(chosen(share) & {answer["sample"]["id"] for answer in answers})
        assert (row["scored"], row["not_sampled"]) == (sampled, len(answers) - sampled)


@pytest.mark.slow
def test_a_judge_that_failed_outside_of_the_share_has_not_failed(tmp_path: Path, answers: list[JsonObject]) -> None:
    """Its failures are in no list and no count, as in a log that had this share from its beginning."""
    failed = [judge_failure_event(answer, judge_id=judge(1).judge_id) for answer in answers]
    events = [*run_of(1, answers), *answers, *failed, *run_of(0.5, answers)]
    log = write_log(tmp_path / "run.jsonl", events)
    with projections.connect([log], texts=False, tools=False, asked=["failure_facts"]) as connection:
        current = connection.execute("select sample_id from failure_facts where current").fetchall()
    assert {name for (name,) in current} == chosen(0.5) & {answer["sample"]["id"] for answer in answers}


@pytest.mark.slow
def test_every_number_is_of_the_share(tmp_path: Path) -> None:
    """Trials, verdicts and scores of what is outside of it are in none, though the log has them, nor unknown."""
    answers = [response_event(name, repetition=number) for name in NAMES[:20] for number in (1, 2)]
    sampled = [each for each in answers if each["sample"]["id"] in chosen(0.5, repetition=each["repetition"])]
    head = run_of(0.5, answers, repetitions=2)
    few = write_log(tmp_path / "few.jsonl", [*head, *answers, *map(judged, sampled)])
    judged_all = [*run_of(1, answers, repetitions=2), *answers, *map(judged, answers), *head]
    lowered = write_log(tmp_path / "all.jsonl", judged_all)

    def said(log: Path) -> tuple[object, ...]:
        with projections.connect([log]) as connection:
            trials = list(alike_trials(connection, 1, 2, {}, ["baseline"]))
            assert {each.why_unknown for each in trials if not each.is_judged} == {"in the share of no judge"}
            scores = connection.execute("select sample_id, repetition, score from scores order by all").fetchall()
            verdict = load("projections", "verdicts", given="(null, null)", passed="share_passed >= 0.5")
            verdicts = {(row["response_id"], row["passed"]) for row in projections.rows(connection, verdict)}
        (summary,) = condition_trials(trials)
        return summary, scores, verdicts

    assert said(lowered) == said(few)
    summary, scores, _ = said(few)
    assert isinstance(summary, ConditionTrials)
    in_any = {each["sample"]["id"] for each in sampled}
    assert (summary.samples, summary.not_judged, summary.unknown) == (len(in_any), 20 - len(in_any), 0)
    assert isinstance(scores, list)
    assert (summary.pass_at_k, len(scores)) == (1, len(sampled))


@pytest.mark.slow
@pytest.mark.parametrize("wholly", [False, True])
def test_what_is_outside_of_the_share_need_not_be_tried(tmp_path: Path, wholly: bool) -> None:
    """Nothing of it is still to be done: numbers are as if all of it had been, also where all of a sample is outside.

    That it is there is known by another condition's answers, as the plan holds no names.
    """
    places = [
        (name, number, condition) for name in NAMES[:20] for number in (1, 2) for condition in ("baseline", "other")
    ]
    answers = [response_event(name, condition, repetition=number) for name, number, condition in places]
    first, second = chosen(0.5, repetition=1), chosen(0.5, repetition=2)
    in_share = [each for each in answers if each["sample"]["id"] in (first, second)[each["repetition"] - 1]]
    in_some = {each["sample"]["id"] for each in in_share}
    outside = [
        each for each in answers
        if each not in in_share and each["condition"] == "other" and (wholly or each["sample"]["id"] in in_some)
    ]  # fmt: skip
    head = run_of(0.5, answers, repetitions=2, conditions=("baseline", "other"))
    judgments = list(map(judged, in_share))

    def numbers(name: str, events: list[JsonObject]) -> tuple[object, ...]:
        log = write_log(tmp_path / name, [*head, *events, *judgments])
        with projections.connect([log]) as connection:
            trials = list(alike_trials(connection, 1, 2, {}, ["baseline", "other"]))
            found = connection.execute(
                "select condition, planned, scored, not_sampled, not_done, mean, mean_lower, mean_upper "
                "from condition_scores order by all"
            ).fetchall()
        # Of a sample without a trial under a condition it says that it was not tried there.
        summaries = [] if wholly else list(condition_trials(trials))
        return found, [(each.condition, each.samples, each.unknown, each.pass_at_k) for each in summaries]

    assert outside
    few = [each for each in answers if each not in outside]
    assert numbers("few.jsonl", few) == numbers("all.jsonl", answers)


@pytest.mark.slow
def test_a_judge_of_another_evaluation_changes_no_share(tmp_path: Path, answers: list[JsonObject]) -> None:
    """One log may hold several: what a judge without a share is for says nothing of the trials of the others."""
    sampled = [answer for answer in answers if answer["sample"]["id"] in chosen(0.5)]
    other, whole = response_event("other", "other"), judge_entry([{"name": "ok", "min": 0, "max": 1}])
    passed = {"ok": {"score": 1, "reasoning": None, "min": 0, "max": 1, "passed": True}}
    plan = plan_event([other["question_id"]])
    second = [
        run_event(["other"], samples=1, judges=[whole], plan_id=plan["plan_id"], config_name="other", run_id="1" * 16),
        plan,
        other,
        judgment_event(other, judge_id=whole["judge_id"]) | {"scores": passed},
    ]
    log = write_log(tmp_path / "run.jsonl", [*run_of(0.5, answers), *answers, *map(judged, sampled), *second])
    with projections.connect([log]) as connection:
        (summary,) = condition_trials(alike_trials(connection, 1, 1, {}, ["baseline"]))
    assert (summary.samples, summary.unknown, summary.pass_at_k) == (len(sampled), 0, 1)


CONFIG = """\
name: share
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {one: {system_prompt: "Answer."}, two: {system_prompt: "Answer!"}}
execution: {repetitions: 1, seed: 3}
judge: {type: exact_match, sample_rate: 0.3}
"""


def judged_samples(log: Path) -> dict[str, set[str]]:
    """Return the samples that were judged, by condition."""
    found: dict[str, set[str]] = {"one": set(), "two": set()}
    for event in map(json.loads, log.read_bytes().splitlines()):
        if event["type"] == "judgment":
            found[event["condition"]].add(event["sample_id"])
    return found


@pytest.mark.slow
def test_the_share_stays_when_samples_are_added_and_grows_when_it_is_asked_to(keval: Keval, tmp_path: Path) -> None:
    """Each condition has the same samples judged, a second call adds nothing, and no report misses the others."""
    names, log = NAMES[:30], tmp_path / "share.jsonl"
    (tmp_path / "eval.yaml").write_text(CONFIG)
    for some in (names[:20], names):
        rows = [{"id": name, "question": name, "answer": name} for name in some]
        (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = keval("run", "eval.yaml", "-q")
        assert (done.returncode, "missing (" in done.stdout) == (0, False), done.stderr
        assert judged_samples(log) == dict.fromkeys(("one", "two"), chosen(0.3, seed=3) & set(some))
    before = log.read_bytes()
    nothing = keval("judge", log, "-q")
    assert "every response of the share that is judged has its judgments" in nothing.stderr
    assert log.read_bytes() == before
    assert keval("judge", log, "-q", "--sample-rate", "0.6").returncode == 0
    assert judged_samples(log) == dict.fromkeys(("one", "two"), chosen(0.6, seed=3) & set(names))


def test_a_share_is_no_other_judge_and_is_recorded() -> None:
    """Its judgments stay when the share grows, and a judge that is rebuilt from a log judges the same share."""
    share = judge(0.25, seed=7)
    assert share.judge_id == judge(1).judge_id
    assert judge_from_description(share.described()).sampling == share.sampling
    assert "sampling" not in judge(1).described()
