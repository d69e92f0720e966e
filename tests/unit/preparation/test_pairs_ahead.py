"""What judges of pairs have yet to compare is known before a run, of answers that are there and of those to come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.events import new_run_id
from keval.ids import JsonObject, answer_sha256
from keval.preparation.chosen import Chosen
from keval.preparation.pairs_ahead import judged_anew, pairs_of_tasks, pairs_there
from keval.preparation.prepared import Prepared, prepare
from keval.preparation.request import Request
from keval.preparation.run_events import is_recorded, run_event
from keval.preparation.tasks import work_list
from tests.builders import judgment_event, plan_event
from tests.tasks import answer_to, config_past, tasks_of

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "A."}, terse: {system_prompt: "B."}, kind: {system_prompt: "C."}}
judges: [{type: pairwise, model: m}, {type: exact_match}]
execution: {repetitions: 1}
"""


def prepared(folder: Path, config: str = CONFIG, questions: int = 2) -> Prepared:
    """Return a config of three conditions."""
    lines = [f'{{"id": "q{n}", "question": "Q{n}?", "answer": "A"}}' for n in range(questions)]
    (folder / "questions.jsonl").write_text("\n".join(lines))
    (folder / "eval.yaml").write_text(config)
    return prepare(load(folder / "eval.yaml", environ={}), None, warn=lambda _: None)


def answers_of(found: Prepared, *conditions: str) -> list[JsonObject]:
    """Return the responses of some conditions, by default of all."""
    return [answer_to(found, task) for task in tasks_of(found) if not conditions or task.condition.name in conditions]


def brought(found: Prepared, events: Sequence[JsonObject], chosen: Chosen | None = None) -> int:
    """Return how many pairs are brought by what a log of these events lacks, or by the chosen part of it."""
    with config_past(found, events) as about:
        tasks = work_list(found.config, found.samples, about.skipped(retry_failed=True)[0])
        asked = chosen.of_tasks(tasks) if chosen else tasks
        pairs = pairs_of_tasks(asked, about, found.config.judges, chosen or Chosen())
    return pairs[found.config.judges[0].judge_id]


def test_each_answer_but_the_baselines_brings_a_pair(tmp_path: Path) -> None:
    """Of a new run there is one for each question and other condition, and the baseline's is no pair with itself."""
    assert brought(prepared(tmp_path), []) == 4


def test_an_answer_of_the_baseline_brings_the_pairs_of_all_answers_that_are_there(tmp_path: Path) -> None:
    """An answer of another condition brings its own, and one without the baseline's brings none."""
    found = prepared(tmp_path)
    assert brought(found, answers_of(found, "terse", "kind")) == 4
    assert brought(found, answers_of(found, "plain", "kind")) == 2
    assert brought(found, answers_of(found)) == 0


@pytest.mark.parametrize(("chosen", "pairs"), [("plain", 0), ("terse", 0), ("*", 4)])
def test_only_pairs_of_chosen_answers_are_counted(chosen: str, pairs: int, tmp_path: Path) -> None:
    """The baseline's answers are compared with none that was not chosen, and others with none that is not there."""
    assert brought(prepared(tmp_path), [], Chosen(conditions=(chosen,))) == pairs


def test_an_answer_that_is_there_and_not_chosen_is_not_compared(tmp_path: Path) -> None:
    """The baseline's alone is asked for: its pairs are judged when the others are chosen too."""
    found = prepared(tmp_path)
    there = answers_of(found, "terse", "kind")
    assert brought(found, there, Chosen(conditions=("plain",))) == 0
    assert brought(found, there, Chosen(conditions=("plain", "terse"))) == 2


def test_a_judge_compares_with_the_baseline_that_it_names(tmp_path: Path) -> None:
    """Its pairs are with the answers of that condition."""
    found = prepared(tmp_path, CONFIG.replace("model: m", "model: m, baseline: kind"))
    assert brought(found, answers_of(found, "plain", "terse")) == 4
    assert brought(found, answers_of(found, "kind", "plain")) == 2


def test_judgments_of_pairs_are_told_by_judge(tmp_path: Path) -> None:
    """Each replicate is one; without pairs nothing is told."""
    judges = prepared(tmp_path, CONFIG.replace("model: m", "model: m, replicates: 2")).config.judges
    assert judged_anew({judges[0].judge_id: 3}, judges) == ", and pairs with them judged anew (6 by pairwise)"
    assert judged_anew({judges[0].judge_id: 0}, judges) == ""


def judged(found: Prepared, answers: Sequence[JsonObject]) -> list[JsonObject]:
    """Return a judgment of each pair."""
    baselines = {answer["question_id"]: answer for answer in answers if answer["condition"] == "plain"}
    beside = [(answer, baselines[answer["question_id"]]) for answer in answers]
    return [
        judgment_event(answer, judge_id=found.config.judges[0].judge_id)
        | {"other_response_id": other["id"], "other_answer_sha256": answer_sha256(other["text"])}
        for answer, other in beside
    ]


def left(found: Prepared, events: Sequence[JsonObject], request: Request | None = None) -> tuple[int, int]:
    """Return how many judgments of pairs a log lacks before a config runs, and about how many somebody is asked."""
    with config_past(found, events) as about:
        backlog = pairs_there(about, found.config.judges, request or Request(), (), recorded=is_recorded(about))
    return backlog.planned["pairwise"], backlog.asked.total()


def run_of(found: Prepared) -> list[JsonObject]:
    """Return what a run writes first."""
    return [run_event(found, "run", new_run_id()), plan_event(found.question_ids)]


def test_pairs_of_answers_that_are_there_are_left_until_they_are_judged(tmp_path: Path) -> None:
    """The baseline's own is to be written too, and nobody is asked about it."""
    found = prepared(tmp_path)
    begun = run_of(found) + answers_of(found)
    assert left(found, begun) == (6, 4)
    assert left(found, begun + judged(found, answers_of(found))) == (0, 0)


def test_to_a_real_run_answers_of_the_mock_are_in_no_pair(tmp_path: Path) -> None:
    """A rehearsal of the baseline stands in the log; a mock run compares with it, a real one has to ask first."""
    found = prepared(tmp_path)
    answers = [answer | {"mock": answer["condition"] == "plain"} for answer in answers_of(found)]
    assert left(found, run_of(found) + answers) == (0, 0)
    assert left(found, run_of(found) + answers, Request(mock_url="http://127.0.0.1:9")) == (6, 4)


def test_pairs_are_left_to_a_changed_judge(tmp_path: Path) -> None:
    """It is another one, and has judged none."""
    found = prepared(tmp_path)
    done = run_of(found) + answers_of(found) + judged(found, answers_of(found))
    assert left(prepared(tmp_path, CONFIG.replace("model: m", "model: m, criteria: brevity")), done) == (6, 4)


def test_what_is_asked_again_leaves_no_pair(tmp_path: Path) -> None:
    """Its pairs come with the answers: those of an edited baseline have no other yet, with --fresh nothing has."""
    found = prepared(tmp_path)
    begun = run_of(found) + answers_of(found)
    assert left(prepared(tmp_path, CONFIG.replace('"A."', '"D."')), begun) == (0, 0)
    assert left(found, begun, Request(fresh=True)) == (0, 0)


def test_answers_that_come_back_into_the_plan_are_compared(tmp_path: Path) -> None:
    """The newest run left a question out, so its answers count in no view; to the run that is to come they do.

    So do the judgments of their pairs, as long as they compared the present texts.
    """
    both = prepared(tmp_path)
    there = run_of(both) + answers_of(both)
    done = judged(both, answers_of(both))
    pilot = run_of(prepared(tmp_path, questions=1))
    assert left(prepared(tmp_path), [*there, *pilot]) == (6, 4)
    assert left(prepared(tmp_path), [*there, *done, *pilot]) == (0, 0)
    outdated = [judgment | {"other_answer_sha256": answer_sha256("another text")} for judgment in done]
    assert left(prepared(tmp_path), [*there, *outdated, *pilot]) == (6, 4)
