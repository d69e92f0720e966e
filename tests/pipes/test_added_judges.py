from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Keval

pytestmark = pytest.mark.slow  # each test starts a dozen processes

BROKEN = 'def judge(case):\n    raise RuntimeError("broke")\n'
GOOD = "def judge(case):\n    return True\n"
HALF = 'def judge(case):\n    if case["question"] == "Rome":\n        raise RuntimeError("broke")\n    return True\n'


@pytest.fixture
def run(keval: Keval, tmp_path: Path) -> Keval:
    """Run keval in a folder with a log of two answers that exact_match judged, and the file of another judge."""
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "a", "question": "Rome", "answer": "Rome"}\n{"id": "b", "question": "Oslo", "answer": "Oslo"}\n'
    )
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\njudge: {type: exact_match}\nexecution: {repetitions: 1}\n'
    )
    (tmp_path / "mine.yaml").write_text("type: python\nname: mine\nfunction: mine.py:judge\n")
    keval("run", "eval.yaml", "-o", "log.jsonl", "-q")
    return keval


def judged(run: Keval, folder: Path, code: str) -> int:
    """Add a judge of this code, and return the exit code."""
    (folder / "mine.py").write_text(code)
    return run("judge", "log.jsonl", "-j", "mine.yaml", "-q").returncode


def missing_rule(run: Keval) -> int:
    """Return the exit code of a gate on what is missing."""
    return run("gate", "log.jsonl", "--rule", "missing <= 5%").returncode


def means(run: Keval) -> str:
    """Return what the log says of all conditions, judges and metrics."""
    return run("sql", "log.jsonl", "-f", "jsonl", "from condition_scores").stdout


def first_run(folder: Path) -> str:
    """Return the run that first added a judge."""
    events = map(json.loads, (folder / "log.jsonl").read_text().splitlines())
    return str(next(event["run_id"] for event in events if event["type"] == "run" and event["command"] == "judge"))


def test_a_judge_that_was_mended_takes_the_place_of_one_that_judged_nothing(run: Keval, tmp_path: Path) -> None:
    """Its failures count for nothing any more; with --all they do."""
    assert (judged(run, tmp_path, BROKEN), missing_rule(run)) == (1, 1)
    assert (judged(run, tmp_path, GOOD), missing_rule(run)) == (0, 0)
    assert "broke" not in run("report", "log.jsonl").stdout
    assert "broke" in run("report", "log.jsonl", "--all").stdout


def test_what_a_broken_judge_is_not_for_it_did_not_judge(run: Keval, tmp_path: Path) -> None:
    """The events that say so are written without asking it, and keep it from no successor."""
    with (tmp_path / "mine.yaml").open("a") as judge:
        judge.write("only_for: {id: a}\n")
    assert (judged(run, tmp_path, BROKEN), missing_rule(run)) == (1, 1)
    assert (judged(run, tmp_path, GOOD), missing_rule(run)) == (0, 0)


def test_two_versions_that_both_judged_stand_beside_each_other(run: Keval, tmp_path: Path) -> None:
    """To compare them is what they were added for, also if one failed on some answers; unless it is taken back."""
    assert (judged(run, tmp_path, HALF), judged(run, tmp_path, GOOD)) == (1, 0)
    rows = run("sql", "log.jsonl", "-f", "jsonl", "select count(*) as n from scores where current and judge = 'mine'")
    assert json.loads(rows.stdout) == {"n": 3}
    assert missing_rule(run) == 1
    (event,) = (
        event
        for event in map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
        if event["type"] == "judgment" and event["judge"]["name"] == "mine" and event["run_id"] == first_run(tmp_path)
    )
    assert run("retract", "log.jsonl", event["id"], "--reason", "broken").returncode == 0
    assert missing_rule(run) == 0


@pytest.mark.parametrize("code", [BROKEN, HALF, GOOD], ids=["broken", "half", "good"])
def test_a_judge_of_which_all_was_taken_back_is_gone_until_it_is_given_again(
    run: Keval, tmp_path: Path, code: str
) -> None:
    """Nothing of it is missing, no number of it stands anywhere, and what the log says is what it said without it."""
    before = means(run)
    judged(run, tmp_path, code)
    assert means(run) != before
    assert run("retract", "log.jsonl", "--run", first_run(tmp_path), "--reason", "a trial").returncode == 0
    assert (missing_rule(run), means(run)) == (0, before)
    assert "every response has its judgments\n" in run("judge", "log.jsonl").stderr
    assert (judged(run, tmp_path, GOOD), missing_rule(run)) == (0, 0)
    assert "mine" in means(run)


def test_what_an_added_judge_has_not_judged_is_missing_wherever_it_is_told(run: Keval, tmp_path: Path) -> None:
    """`list`, the report and `judge` say so, as a gate does; and that it is asked again with -j."""
    judged(run, tmp_path, HALF)
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace("repetitions: 1", "repetitions: 2"))
    run("run", "eval.yaml", "-o", "log.jsonl", "-q")
    (found,) = map(json.loads, run("list", "-f", "jsonl").stdout.splitlines())
    assert (found["missing_judgments"], found["failed_judgments"]) == (2, 1)
    assert "3 judgments are missing (mine 3), of which 1 failed: keval judge LOG -j JUDGE.yaml" in " ".join(
        run("report", "log.jsonl").stdout.split()
    )
    said = run("judge", "log.jsonl").stderr
    assert (
        "every response has its judgments by the config's judges; those that were added (mine) are asked with -j, "
        "also for the responses that they failed to judge: mine 1\n"
    ) in said


def test_an_added_judge_that_did_not_fail_is_named_and_no_more(run: Keval, tmp_path: Path) -> None:
    """Who has nothing to do learns how it is asked again."""
    judged(run, tmp_path, GOOD)
    said = run("judge", "log.jsonl").stderr
    assert said == (
        "keval: nothing to judge: every response has its judgments; those that were added (mine) are asked with -j\n"
    )


def test_a_score_that_passes_now_is_recorded_once(run: Keval, tmp_path: Path) -> None:
    """The judge is the same and has judged all: whoever reads the log goes by what its file says now."""
    judged(run, tmp_path, "def judge(case):\n    return {'score': 0.5}\n")
    with (tmp_path / "mine.yaml").open("a") as judge:
        judge.write("pass_from: 0.4\n")
    told = "the score from which an answer passes is another one now: that was recorded\n"
    assert [run("judge", "log.jsonl", "-j", "mine.yaml").stderr.endswith(told) for _ in range(2)] == [True, False]
    rows = run(
        "sql",
        "log.jsonl",
        "-f",
        "jsonl",
        "select judges[1].metrics[1].pass_from as f from runs where command = 'judge'",
    )
    assert [json.loads(line)["f"] for line in rows.stdout.splitlines()] == [None, 0.4]


def test_a_judge_under_another_name_is_told_to_be_the_same(run: Keval, tmp_path: Path) -> None:
    """It would judge what is judged already, so it does nothing; a user who wonders why is told."""
    (tmp_path / "again.yaml").write_text("type: exact_match\nname: again\n")
    done = run("judge", "log.jsonl", "-j", "again.yaml")
    assert done.returncode == 0
    assert "again is exact_match under another name, which replicates ask again" in done.stderr
