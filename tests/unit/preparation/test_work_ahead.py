"""Before anything is paid, a user reads how much is there, how much is new, and what that costs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.events import new_run_id
from keval.ids import answer_sha256
from keval.preparation.chosen import Chosen
from keval.preparation.config_past import ConfigPast
from keval.preparation.jobs import Backlog
from keval.preparation.pairs_ahead import pairs_there
from keval.preparation.prepared import Prepared, prepare
from keval.preparation.request import Request
from keval.preparation.run_events import run_event
from keval.preparation.tasks import TaskList, work_list
from keval.preparation.unjudged import Missing, Unjudged
from keval.preparation.work_ahead import generation_ahead, judgments_ahead, known_cost, work_ahead
from tests.builders import failure_event, judgment_event
from tests.tasks import answer_to, config_past, tasks_of

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: AGENT
conditions: {plain: {system_prompt: "Answer."}, terse: {system_prompt: "Be brief."}}
judges: [JUDGE]
prices: {mine: {input: 1, output: 2}}
execution: {repetitions: 2}
"""


def prepared(folder: Path, agent: str = "{type: claude, model: mine}", judge: str = "{type: exact_match}") -> Prepared:
    """Return a config of one sample, two conditions and two repetitions."""
    (folder / "questions.jsonl").write_text('{"id": "q", "question": "Q?", "answer": "A"}\n')
    (folder / "eval.yaml").write_text(CONFIG.replace("AGENT", agent).replace("JUDGE", judge))
    return prepare(load(folder / "eval.yaml", environ={}), None, warn=lambda _: None)


def said(
    found: Prepared, answered: int = 0, failed: int = 0, given_up: int | None = 0, *, may_stop: bool = False
) -> str:
    """Return what is said when so many of the config's four tasks have an answer, each of $0.25, and so many failed."""
    answers = [answer_to(found, task, time=f"2026-11-20T11:5{n}:00.000Z") for n, task in enumerate(tasks_of(found))]
    failures = [failure_event(answer) for answer in answers[answered : answered + failed]]
    with config_past(found, [*answers[:answered], *failures]) as about:
        tasks = work_list(found.config, found.samples, "1" * answered + "0" * (4 - answered) if answered else "")
        return work_ahead(about, tasks, found.config.judges, given_up, may_stop=may_stop)


def test_what_is_there_what_is_asked_for_and_its_cost_stand_in_one_line(tmp_path: Path) -> None:
    """The cost is that of the answers so far, for those that are new."""
    assert said(prepared(tmp_path), answered=2) == (
        "2 answers are there, the newest of 2026-11-20 11:51 UTC; 2 more will be asked for, ≈ $0.50 with judgments"
    )


def test_of_a_run_that_may_stop_it_is_the_most(tmp_path: Path) -> None:
    """When it is decided the rest is not asked for, and not paid."""
    first, again = (said(prepared(tmp_path), answered=there, may_stop=True) for there in (0, 2))
    assert first.startswith("at most 4 answers will be asked for, ≈ $0.01")
    assert "; at most 2 more will be asked for, ≈ $0.50" in again


@pytest.mark.parametrize(("failed", "told"), [(1, "1 of which failed before"), (2, "which failed before")])
def test_what_is_tried_again_is_told_from_what_is_new(failed: int, told: str, tmp_path: Path) -> None:
    """The same command again costs something where tasks failed, and that is why."""
    assert f"; 2 more, {told}, will be asked for" in said(prepared(tmp_path), answered=2, failed=failed)
    of_others = said(prepared(tmp_path), answered=2, failed=failed, given_up=failed)
    assert "; 2 more will be asked for" in of_others


def test_a_first_run_is_guessed_at_and_says_so(tmp_path: Path) -> None:
    """Nothing was measured: 4 answers of 2,000 and 500 tokens at $1 and $2 a million, rounded to cents."""
    assert said(prepared(tmp_path)) == "4 answers will be asked for, ≈ $0.01 with judgments, a rough guess"


@pytest.mark.parametrize(
    ("agent", "judge", "cost"),
    [
        ("{type: echo}", "{type: exact_match}", "free"),
        ("{type: claude, model: secret-model}", "{type: exact_match}", "cost unknown (plain, terse)"),
        (
            "{type: claude, model: mine}",
            "{type: rubric, model: secret-model}",
            "≈ $0.01 with judgments, a rough guess; not counted, as their price is unknown: rubric",
        ),
    ],
)
def test_what_is_free_or_has_no_price_is_no_amount(tmp_path: Path, agent: str, judge: str, cost: str) -> None:
    """Nothing unknown is taken for nothing, and what cannot cost anything is free."""
    assert said(prepared(tmp_path, agent, judge)) == f"4 answers will be asked for, {cost}"


def of_terse(found: Prepared) -> TaskList:
    """Return the two tasks of a condition."""
    return Chosen(conditions=("terse",)).of_tasks(work_list(found.config, found.samples))


def test_what_is_asked_again_has_a_known_cost_its_own(tmp_path: Path) -> None:
    """It is that of the condition's answers so far, and of no other condition's."""
    found = prepared(tmp_path)
    answers = [answer_to(found, task) for task in tasks_of(found)]
    with config_past(found, answers) as about:
        assert known_cost(of_terse(found), about, ()) == ", ≈ $0.50"
        assert known_cost(of_terse(found), about, found.config.judges) == ", ≈ $0.50 with judgments"


@pytest.mark.parametrize(
    ("model", "cost"), [("mine", " ≈ $0.01, a rough guess"), ("secret-model", " cost unknown (pairwise)")]
)
def test_judgments_of_answers_that_are_there_have_their_cost(model: str, cost: str, tmp_path: Path) -> None:
    """Of a pair: two calls of 2,500 and 700 tokens at $1 and $2 a million. The baseline beside itself costs nothing."""
    found = prepared(tmp_path, judge=f"{{type: pairwise, model: {model}}}")
    with config_past(found, [answer_to(found, task) for task in tasks_of(found)[:2]]) as about:
        backlog = pairs_there(about, found.config.judges, Request(), (), recorded=False)
        (line,) = judgments_ahead(about, backlog)
    assert line == f"responses of earlier runs lack judgments, which will be made: 2 by pairwise,{cost}"


def backlog_of(about: ConfigPast) -> Backlog:
    """Return what the judge has to do for the answers that are there."""
    judges = about.prepared.config.judges
    if judges[0].judge.unit == "pair":
        return pairs_there(about, judges, Request(), (), recorded=False)
    missing = Unjudged(about.past, judges, mock=False).missing("select position from answered_tasks")
    return Backlog(about.past.log, missing, judges, about.prepared.question_ids, about.prepared.samples)


@pytest.mark.parametrize("judge", ["rubric", "pairwise"])
def test_what_asks_nobody_is_in_no_amount(judge: str, tmp_path: Path) -> None:
    """Of a sample that the judge is not for, judgments are made, and cost nothing: four calls are paid, not eight."""
    prepared(tmp_path, "{type: echo}", f"{{type: {judge}, model: mine, only_for: {{answer: A}}}}")
    with (tmp_path / "questions.jsonl").open("a") as questions:
        questions.write('{"id": "other", "question": "Q?", "answer": "B"}\n')
    found = prepare(load(tmp_path / "eval.yaml", environ={}), None, warn=lambda _: None)
    with config_past(found, [answer_to(found, task) for task in tasks_of(found)]) as about:
        (line,) = judgments_ahead(about, backlog_of(about))
    missing = f"responses of earlier runs lack judgments, which will be made: 8 by {judge}"
    assert line == f"{missing}, ≈ $0.02, a rough guess"
    with config_past(found, []) as about:
        (ahead,) = generation_ahead(about, work_list(found.config, found.samples), found.config.judges, 0)
    assert ahead == "8 answers will be asked for, ≈ $0.02 with judgments, a rough guess"


def test_numbers_of_judgments_are_written_as_all_numbers_are(tmp_path: Path) -> None:
    """Thousands are told apart."""
    found = prepared(tmp_path)
    backlog = Backlog(tmp_path, [Missing(0, 0, 0, 1, -1)] * 1000, found.config.judges)
    with config_past(found, []) as about:
        (line,) = judgments_ahead(about, backlog)
    assert line.endswith(": 1,000 by exact_match")


def test_nothing_is_said_of_judgments_where_none_is_missing(tmp_path: Path) -> None:
    """There is no answer, so there is no judgment to be made of one."""
    with config_past(prepared(tmp_path), []) as about:
        assert list(judgments_ahead(about, Backlog(tmp_path, (), ()))) == []


def test_the_pairs_of_what_is_asked_for_are_in_its_cost(tmp_path: Path) -> None:
    """Of a baseline that was edited all pairs are judged anew, with answers that were not asked again too."""
    found = prepared(tmp_path, judge="{type: pairwise, model: mine}")
    done = [run_event(found, "run", new_run_id()), *(answer_to(found, task) for task in tasks_of(found))]
    judge_id, (this, other) = found.config.judges[0].judge_id, (done[2], done[1])
    beside = {"other_response_id": other["id"], "other_answer_sha256": answer_sha256(other["text"])}
    done.append(judgment_event(this, judge_id=judge_id) | beside)  # $0.50
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace("Answer.", "Answer, please."))
    edited = prepare(load(config, environ={}), None, warn=lambda _: None)
    with config_past(edited, done) as about:
        tasks = work_list(edited.config, edited.samples, about.skipped(retry_failed=True)[0])
        changed, ahead = generation_ahead(about, tasks, edited.config.judges, 0)
    again = "2 responses of plain will be asked again, and pairs with them judged anew (2 by pairwise)"
    assert changed == f"plain changed (system prompt): {again}, ≈ $1.50 with judgments"
    assert ahead.endswith("; 2 more will be asked for, ≈ $1.50 with judgments")


@pytest.mark.parametrize(
    ("agent", "amount"),
    [
        ("{type: claude, model: secret-model, max_turns: 7}", ", ≈ $1.00 with judgments"),
        ("{type: claude, model: another-secret-model}", ""),
    ],
)
def test_an_edited_agent_costs_what_it_did(tmp_path: Path, agent: str, amount: str) -> None:
    """But not where it asks another model, which has another price."""
    found = prepared(tmp_path, "{type: claude, model: secret-model}")
    done = [run_event(found, "run", new_run_id()), *(answer_to(found, task) for task in tasks_of(found))]
    edited = prepared(tmp_path, agent)
    with config_past(edited, done) as about:
        changed, _ = generation_ahead(about, work_list(edited.config, edited.samples), edited.config.judges, 0)
    assert re.fullmatch(
        rf"agent claude changed \(.*\): 4 responses of plain, terse will be asked again{re.escape(amount)}", changed
    )


def test_what_costs_less_than_a_cent_is_not_told_as_nothing(tmp_path: Path) -> None:
    """A model that is cheap is not free."""
    found = prepared(tmp_path)
    done = [answer_to(found, task, cost_usd=0.001) for task in tasks_of(found)]
    with config_past(found, done) as about:
        assert known_cost(of_terse(found), about, found.config.judges) == ", < $0.01 with judgments"


def test_what_is_asked_again_free_or_without_a_price_has_no_amount(tmp_path: Path) -> None:
    """The line after it says so of everything that is asked for."""
    for agent in ("{type: echo}", "{type: claude, model: secret-model}"):
        with config_past(found := prepared(tmp_path, agent), []) as about:
            assert known_cost(of_terse(found), about, found.config.judges) == ""
