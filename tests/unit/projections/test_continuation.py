"""Properties of stored tables that are brought up to date with new lines."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from keval import projections
from keval.ids import JsonObject
from tests.builders import (
    ask,
    failure_event,
    judge_entry,
    judge_failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
)
from tests.properties.test_continuation import GOLDEN, compare, split, with_more

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

ANSWERS = [response_event(name, condition) for name in ("q1", "q2") for condition in ("baseline", "with_docs")]
LOG = [run_event(), *ANSWERS, *(judgment_event(answer, 3) for answer in ANSWERS[1:])]

PLAIN: dict[str, list[JsonObject]] = {
    "nothing": [],
    "a judgment that was missing": [judgment_event(ANSWERS[0], 5)],
    "another text": [response_event("q1", text="another")],
    "a new sample": [response_event("q3"), judgment_event(response_event("q3"), 1)],
    "a line again": ANSWERS[:1],
    "a failure": [failure_event(response_event("q4"), "timeout"), judge_failure_event(ANSWERS[0], "judge_error")],
    "a corrected sample": [sample_change_event(sample("q1"), "answer")],
    "a line of an unknown type": [{**run_event(), "type": "note", "id": "n"}],
}
STRANGE = {
    "a judgment of another sample's answer": judgment_event(ANSWERS[0], 2) | {"sample_id": "q2"},
    "a judgment beside another sample's answer": judgment_event(ANSWERS[0], 2)
    | {"other_response_id": ANSWERS[2]["id"], "other_answer_sha256": "0" * 24},
}
"""What keval never writes."""

OTHER: dict[str, list[JsonObject]] = {
    "a run": [run_event(seed=7)],
    "a retraction": [retraction_event(ANSWERS[0])],
    "a condition that no run announced": [response_event("q1", "other")],
    "a judge that no run named": [judgment_event(ANSWERS[0], 2, judge_id="j" * 24)],
    "a metric that the judge had not": [judgment_event(ANSWERS[0], {"clarity": 2})],
    **{name: [line] for name, line in STRANGE.items()},
}


def slow(name: str) -> ParameterSet:
    """Return a name of lines with which a test runs with the slow ones."""
    return pytest.param(name, marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["another text", *(slow(name) for name in PLAIN if name != "another text")])
def test_only_the_samples_of_new_lines_are_computed_again(tmp_path: Path, name: str) -> None:
    """New answers, judgments and failures of known conditions and judges leave the other samples as they are stored."""
    assert compare(tmp_path, [*LOG, *PLAIN[name]], len(LOG)) == bool(PLAIN[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a retraction", *(slow(name) for name in OTHER if name != "a retraction")])
def test_what_may_change_more_than_its_sample_has_all_computed_again(tmp_path: Path, name: str) -> None:
    """Runs, retractions and what no run told of may change the standing of any line."""
    assert not compare(tmp_path, [*LOG, *OTHER[name]], len(LOG))


@pytest.mark.slow
def test_an_answer_without_its_baselines_is_computed_again_with_it(tmp_path: Path) -> None:
    """A judge of pairs scores it by what became of the baseline's task, whichever of them is new."""
    run = run_event(judges=[{**judge_entry(), "unit": "pair"}])
    failed = failure_event(ANSWERS[0], "timeout")
    for name, old, new in (("failed", ANSWERS[1:], [failed]), ("answered", [failed, *ANSWERS[2:]], ANSWERS[1:2])):
        (tmp_path / name).mkdir()
        assert compare(tmp_path / name, [run, *old, *new], 1 + len(old))


@pytest.mark.slow
def test_spreads_are_the_same_to_the_last_bit_in_whatever_order_samples_are_joined(tmp_path: Path) -> None:
    """Samples computed again stand after the stored ones; a number may lie close to where its last digit is rounded."""
    tasks = itertools.product(range(300), ("baseline", "with_docs"), (1, 2))
    answers = [response_event(f"q{number}", condition, repetition) for number, condition, repetition in tasks]
    log = [run_event(samples=310, repetitions=2)]
    for number, answer in enumerate(answers):
        log += [answer, judgment_event(answer, 1 + number * number % 7 * 4 / 7)]
    again = [judgment_event(answer, 2) for answer in answers[:400:3]]
    file = split(tmp_path, [*log, *again], len(log))
    spreads = """
        select unnest([var_between_samples, var_within_sample, se_repeat]) from condition_means
        union all select unnest([sd_difference, se_unpaired]) from comparisons
    """
    with projections.connect([file.path]) as whole, projections.connect([file]) as continued:
        assert sorted(continued.sql(spreads).fetchall()) == sorted(whole.sql(spreads).fetchall())


@pytest.mark.slow
def test_what_a_judge_is_not_for_is_planned_under_no_condition(tmp_path: Path) -> None:
    """One answer tells it of all conditions and repetitions of the sample, tried or not, wherever the log is cut."""
    answers = [response_event("q1", question="One?"), response_event("q2", question="Two?")]
    plan = plan_event([answer["question_id"] for answer in answers])
    run = run_event(repetitions=2, plan_id=plan["plan_id"])
    not_for = {
        "score": None,
        "reasoning": "",
        "min": 1,
        "max": 5,
        "passed": None,
        "not_applicable": "x",
        "outside": True,
    }
    log = [run, plan, *answers, judgment_event(answers[1], 3)]
    log.append(judgment_event(answers[0]) | {"scores": {"completeness": not_for}})
    for stored in range(3, len(log) + 1):
        folder = tmp_path / str(stored)
        folder.mkdir()
        compare(folder, log, stored)
    whole = folder / "log.jsonl"
    query = "select condition, planned, not_applicable, not_done, mean_lower, mean_upper from condition_scores"
    assert [tuple(row.values()) for row in ask(whole, f"{query} order by condition")] == [
        ("baseline", 3, 1, 1, 2, 4), ("with_docs", 2, 0, 2, 1, 5),
    ]  # fmt: skip
    query = "select sample_id, planned, not_applicable, not_done, mean_upper from sample_scores order by sample_id"
    assert [tuple(row.values()) for row in ask(whole, query)] == [
        ("q1", 1, 1, 0, None), ("q2", 2, 0, 1, 4),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", STRANGE)
def test_a_log_whose_lines_cross_samples_is_computed_as_a_whole(tmp_path: Path, name: str) -> None:
    """Where a stored judgment is about another sample's answer, no sample can be told from its own lines."""
    log = [*LOG, STRANGE[name]]
    assert not compare(tmp_path, [*log, response_event("q1", text="another")], len(log))


def label_event(answer: JsonObject, verdict: str) -> JsonObject:
    """Return what somebody says of an answer; whatever it is about, it has the same id."""
    envelope = {name: answer[name] for name in ("v", "time", "run_id")}
    said = {"labeler": "me", "verdict": verdict, "note": None, "response_id": answer["id"]}
    return {**envelope, "type": "label", "id": "l" * 16, **said}


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS[1:3], ids=["of the same answer", "of another one"])
@pytest.mark.parametrize("before", [[], [judge_failure_event(ANSWERS[1], "judge_error")]], ids=["alone", "with others"])
def test_a_changed_label_takes_the_place_of_the_stored_one(
    tmp_path: Path, answer: JsonObject, before: list[JsonObject]
) -> None:
    """A label has no sample: it is found by its id, whether or not new lines are about its answer's sample."""
    log = [*LOG, label_event(ANSWERS[1], "valid_failure")]
    assert compare(tmp_path, [*log, *before, label_event(answer, "judge_bug")], len(log))


OTHER_JUDGE = "k" * 24
BOTH = run_event(judges=[])
OF_ONE = run_event(
    ["baseline"],
    run_id="other",
    id="other",
    judges=[run_event()["judges"][0] | {"judge_id": OTHER_JUDGE, "name": "other"}],
)
ANSWER = response_event("q1", "with_docs")
JUDGED = judgment_event(ANSWER, 3, judge_id=OTHER_JUDGE)
NEW_TEXT = response_event("q1", "with_docs", text="new")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ([BOTH, OF_ONE, ANSWER, JUDGED], [NEW_TEXT]),
        ([BOTH, OF_ONE, ANSWER, JUDGED, NEW_TEXT], [ANSWER]),
        ([BOTH, ANSWER, judgment_event(ANSWER, 3, judge_id="n" * 24), retraction_event(ANSWER)], [ANSWER]),
    ],
    ids=["its only judged answer changes", "the judged answer comes back", "the retracted answer comes back"],
)
def test_a_judge_that_no_run_named_for_a_condition_has_all_computed_again(
    tmp_path: Path, stored: list[JsonObject], new: list[JsonObject]
) -> None:
    """Whether such a judge concerns a condition depends on which of its judgments count."""
    assert not compare(tmp_path, [*stored, *new], len(stored))


@pytest.mark.slow
def test_a_judge_that_was_taken_back_and_judges_again_has_all_computed_again(tmp_path: Path) -> None:
    """It counts again in all conditions: also where the run that named it is stored already."""
    added = run_event((), judges=[judge_entry(judge_id="j" * 24, name="added")])
    judgment = judgment_event(ANSWERS[0], 2, judge_id="j" * 24)
    log = [*LOG, added, judgment, retraction_event(judgment)]
    again = judgment_event(ANSWERS[1], 4, judge_id="j" * 24)
    assert not compare(tmp_path, [*log, again], len(log))


def test_a_corrected_golden_answer_is_looked_for_in_what_was_stored(tmp_path: Path) -> None:
    """What the tools of older answers returned is compared with the golden answer as it is now."""
    answers = [with_more(response_event(name, text="two")) for name in ("q1", "q2")]
    change = sample_change_event(sample("q1") | {"answer": GOLDEN[1]}, "answer")
    assert compare(tmp_path, [run_event(), *answers, change], 3)
