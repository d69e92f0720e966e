"""It is said when either the answers or the judgments of a log are a stand-in's and the others are not."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.conftest import Keval


def write_config(folder: Path) -> None:
    """Write a config whose agent and judge cost nothing."""
    (folder / "questions.jsonl").write_text('{"id": "a", "question": "Rome", "answer": "Rome"}\n')
    (folder / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\njudge: {type: exact_match}\n'
    )


@pytest.mark.slow
def test_mock_judgments_in_a_real_log_are_warned_of(keval: Keval, tmp_path: Path) -> None:
    """`keval judge LOG --mock` says on stderr that the answers are real and its judgments are not."""
    write_config(tmp_path)
    for name, mock in (("real.jsonl", []), ("mock.jsonl", ["--mock"])):
        assert keval("generate", "eval.yaml", "-q", "-o", name, *mock).returncode == 0
        done = keval("judge", name, "--mock", "-q")
        assert done.returncode == 0
        assert ("adds judgments of a stand-in" in done.stderr) == (not mock)


@pytest.mark.slow
def test_paid_judgments_of_mock_answers_are_warned_of(keval: Keval, tmp_path: Path) -> None:
    """`keval judge LOG` says it before it asks a model, and not of a judge that asks none."""
    write_config(tmp_path)
    (tmp_path / "rubric.yaml").write_text("name: rubric\ntype: rubric\nmodel: claude-sonnet-4-5\n")
    assert keval("generate", "eval.yaml", "-q", "-o", "mock.jsonl", "--mock").returncode == 0
    for judge, paid in (([], False), (["-j", "rubric.yaml"], True)):
        piped = keval("judge", "-q", *judge, stdin=(tmp_path / "mock.jsonl").read_text())
        assert ("judging them costs money" in piped.stderr) == paid, piped.stderr
        done = keval("judge", "mock.jsonl", "-q", *judge)
        assert (done.returncode, "judging them costs money" in done.stderr) == (4 if paid else 0, paid), done.stderr


@pytest.mark.slow
def test_what_is_said_of_a_stand_in_is_of_the_answers_not_of_the_newest_run(keval: Keval, tmp_path: Path) -> None:
    """After a rehearsal in a log of real answers, those count still."""
    write_config(tmp_path)
    (tmp_path / "rubric.yaml").write_text("name: rubric\ntype: rubric\nmodel: claude-sonnet-4-5\n")
    for words in ([], ["--mock", "--fresh"]):
        assert keval("generate", "eval.yaml", "-q", "-o", "log.jsonl", *words).returncode == 0
    assert "judging them costs money" not in keval("judge", "log.jsonl", "-q", "-j", "rubric.yaml").stderr
    assert "adds judgments of a stand-in" in keval("judge", "log.jsonl", "-q", "--mock").stderr


@pytest.mark.slow
def test_a_pipe_judges_no_answer_of_a_mock_that_stands_behind_a_real_one(keval: Keval, tmp_path: Path) -> None:
    """As `keval judge LOG` does: such an answer counts for nothing, and a judgment of it may cost money."""
    write_config(tmp_path)
    for words in ([], ["--mock", "--fresh"]):
        assert keval("generate", "eval.yaml", "-q", "-o", "log.jsonl", *words).returncode == 0
    events = [orjson.loads(line) for line in (tmp_path / "log.jsonl").read_bytes().splitlines()]
    answers = [event for event in events if event["type"] == "response"]
    assert [answer["mock"] for answer in answers] == [False] * 3 + [True] * 3
    for answer in answers[3:]:
        answer["text"] = "as only a mock answers"  # what has the same words is judged once
    judged = keval("judge", "-q", stdin=b"\n".join(map(orjson.dumps, events)).decode())
    assert judged.returncode == 0, judged.stderr
    assert judged.stdout.count('"type":"judgment"') == 3


@pytest.mark.slow
def test_a_run_that_judges_all_judges_nothing_of_the_mock(keval: Keval, tmp_path: Path) -> None:
    """What a rehearsal answered under a prompt that was edited since is no earlier answer to a real run."""
    write_config(tmp_path)
    assert keval("generate", "eval.yaml", "-q", "-o", "log.jsonl", "--mock").returncode == 0
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace("Answer.", "Answer politely."))
    done = keval("run", "eval.yaml", "-q", "-o", "log.jsonl", "--all")
    assert done.returncode == 0, done.stderr
    events = [orjson.loads(line) for line in (tmp_path / "log.jsonl").read_bytes().splitlines()]
    real = {event["id"] for event in events if event["type"] == "response" and not event["mock"]}
    assert {event["response_id"] for event in events if event["type"] == "judgment"} == real


@pytest.mark.slow
def test_a_log_is_judged_by_the_judges_of_which_a_report_says_that_judgments_are_missing(
    keval: Keval, tmp_path: Path
) -> None:
    """After a rehearsal with another judge in a log of real answers, those are of the real run, whose numbers count."""
    write_config(tmp_path)
    assert keval("generate", "eval.yaml", "-q", "-o", "log.jsonl").returncode == 0
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace("exact_match", "contains"))
    assert keval("generate", "eval.yaml", "--mock", "-o", "log.jsonl").returncode == 0
    assert "judgments are missing" in keval("report", "log.jsonl").stdout
    assert "exact_match 3/3 done" in keval("judge", "log.jsonl").stderr
    assert "judgments are missing" not in keval("report", "log.jsonl").stdout
    assert "nothing to judge" in keval("judge", "log.jsonl").stderr
    rehearsed = (tmp_path / "log.jsonl").read_bytes()
    assert keval("generate", "eval.yaml", "--mock", "-o", "log.jsonl").returncode == 0
    assert b'"command":"generate"' not in (tmp_path / "log.jsonl").read_bytes().removeprefix(rehearsed)
