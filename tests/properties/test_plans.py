"""Properties of what counts: what the newest plan of a config asks for, of samples as they are now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from keval import projections, schema
from keval.ids import JsonObject
from keval.preparation.plan_events import plan_id
from keval.preparation.tasks import question_id
from keval.stats.aggregates import aggregate
from tests.builders import (
    condition_id,
    failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
    write_log,
)


def planned(
    names: Sequence[str],
    conditions: Sequence[str] = ("baseline",),
    repetitions: int = 1,
    **fields: Any,  # noqa: ANN401 - any field of the run event
) -> list[JsonObject]:
    """Return a run that plans samples of these names, and its plan."""
    questions = [question_id(sample(name)) for name in names]
    run = run_event(conditions, samples=len(names), repetitions=repetitions, plan_id=plan_id(questions), **fields)
    return [run, plan_event(questions)]


def judged(
    name: str = "q1",
    condition: str = "baseline",
    repetition: int = 1,
    **fields: Any,  # noqa: ANN401 - any field of the response event
) -> list[JsonObject]:
    """Return an answer and its judgment."""
    response = response_event(name, condition, repetition, **fields)
    return [response, judgment_event(response)]


def rows(folder: Path, events: Sequence[JsonObject], query: str, *, everything: bool = False) -> list[JsonObject]:
    """Return what a query finds in a log of these events, all of which are valid."""
    assert [problem for event in events if (problem := schema.event_problem(event))] == []
    with projections.connect([write_log(folder / "log.jsonl", events)], everything=everything) as connection:
        return list(projections.rows(connection, query))


def counts(folder: Path, events: Sequence[JsonObject], *, everything: bool = False) -> dict[str, tuple[int, int, int]]:
    """Return planned, completed and not done tasks by condition."""
    found = rows(folder, events, "from missing where current", everything=everything)
    return {row["condition"]: (row["planned"], row["completed"], row["not_done"]) for row in found}


# The newest plan


@pytest.mark.slow
def test_a_question_taken_out_of_the_dataset_is_in_no_number(tmp_path: Path) -> None:
    """Never more answers than planned ones: those to other questions are left out, counted, and there on request."""
    events = [*planned(["q1", "q2", "q3"]), *judged("q1"), *judged("q2"), *judged("q3"), *planned(["q1", "q2"])]
    assert counts(tmp_path, events) == {"baseline": (2, 2, 0)}
    assert rows(tmp_path, events, "select scored, planned, n_samples from condition_scores") == [
        {"scored": 2, "planned": 2, "n_samples": 2}
    ]
    assert rows(tmp_path, events, "select responses from left_out") == [{"responses": 1}]
    assert counts(tmp_path, events, everything=True) == {"baseline": (3, 3, 0)}
    assert rows(tmp_path, events, "from left_out", everything=True) == []


@pytest.mark.slow
def test_what_everything_takes_does_not_hide_what_is_not_done(tmp_path: Path) -> None:
    """An answer that nobody planned does not stand in for one that is planned and missing."""
    events = [*judged("q1"), *judged("q3"), *planned(["q1", "q2"])]
    assert counts(tmp_path, events) == {"baseline": (2, 1, 1)}
    assert counts(tmp_path, events, everything=True) == {"baseline": (3, 2, 1)}
    query = "select planned, scored, not_done from condition_scores"
    assert rows(tmp_path, events, query, everything=True) == [{"planned": 3, "scored": 2, "not_done": 1}]


@pytest.mark.slow
def test_repetitions_and_conditions_of_older_plans_are_left_out(tmp_path: Path) -> None:
    """Fewer repetitions, or a condition less, count from the next run on."""
    both = ["baseline", "with_docs"]
    answers = [event for name in both for repetition in (1, 2) for event in judged("q1", name, repetition)]
    events = [*planned(["q1"], both, 2), *answers, *planned(["q1"], ["baseline"], 1)]
    assert counts(tmp_path, events) == {"baseline": (1, 1, 0)}
    assert rows(tmp_path, events, "select sum(responses)::int as n from left_out") == [{"n": 3}]
    assert rows(tmp_path, events, "from comparisons") == []
    assert counts(tmp_path, events, everything=True) == {"baseline": (2, 2, 0), "with_docs": (None, 2, None)}


@pytest.mark.slow
def test_each_config_has_a_plan_of_its_own(tmp_path: Path) -> None:
    """A run of one config takes nothing out of the plan of another; a condition of both has the questions of both."""
    events = [
        *planned(["q1"], ["baseline", "with_docs"], config_name="one"), *judged("q1"), *judged("q1", "with_docs"),
        *planned(["q2"], ["baseline"], config_name="two"), *judged("q2"),
    ]  # fmt: skip
    assert counts(tmp_path, events) == {"baseline": (2, 2, 0), "with_docs": (1, 1, 0)}


@pytest.mark.slow
def test_a_plan_of_which_a_part_is_missing_does_not_count(tmp_path: Path) -> None:
    """A crash while the plan was written leaves the plan before it in force."""
    questions = [question_id(sample(name)) for name in ("q1", "q2")]
    cut_off = [
        run_event(["baseline"], plan_id=plan_id(questions)),
        plan_event(questions[1:], part=2, parts=2, plan_id=plan_id(questions)),
    ]
    events = [*planned(["q1"]), *judged("q1"), *judged("q2"), *cut_off]
    assert counts(tmp_path, events) == {"baseline": (1, 1, 0)}
    whole = [*events, plan_event(questions[:1], part=1, parts=2, plan_id=plan_id(questions))]
    assert counts(tmp_path, whole) == {"baseline": (2, 2, 0)}


@pytest.mark.slow
def test_without_a_plan_everything_counts(tmp_path: Path) -> None:
    """A log that was cut with grep says what it holds."""
    events = [*judged("q1"), *judged("q2", repetition=7)]
    assert rows(tmp_path, events, "select count(*) as n from scores") == [{"n": 2}]
    assert rows(tmp_path, [*events, run_event(["baseline"], samples=1)], "select planned, completed from missing") == [
        {"planned": 2, "completed": 2}
    ]


def test_a_question_that_came_back_counts_again(tmp_path: Path) -> None:
    """What is planned wins over what was asked last: answers to the old wording need not be asked for again."""
    events = [
        *judged("q1", question="Old?"), *judged("q1", question="New?"),
        run_event(["baseline"], plan_id=(old := plan_id([question_id(sample("q1", "Old?"))]))),
        plan_event([question_id(sample("q1", "Old?"))], plan_id=old),
    ]  # fmt: skip
    found = rows(tmp_path, events, "select sample ->> 'question' as question, current from responses order by position")
    assert [tuple(row.values()) for row in found] == [("Old?", True), ("New?", False)]


@pytest.mark.slow
def test_a_rehearsals_plan_replaces_none_that_real_answers_came_of(tmp_path: Path) -> None:
    """`--mock --limit 1` into the log of a real run takes nothing out of its report."""
    real = [*planned(["q1", "q2"], run_id="real"), *judged("q1", run_id="real"), *judged("q2", run_id="real")]
    rehearsal = planned(["q1"], run_id="rehearsal", mock=True)
    assert counts(tmp_path, [*real, *rehearsal]) == {"baseline": (2, 2, 0)}
    assert counts(tmp_path, rehearsal) == {"baseline": (1, 0, 1)}


@pytest.mark.slow
def test_a_failure_outside_the_plan_is_no_failure_of_it(tmp_path: Path) -> None:
    """Failed tasks are planned, or left out, like answers; a retracted run plans nothing."""
    narrow = planned(["q1"])
    events = [*planned(["q1", "q2"]), failure_event(response_event("q2")), *narrow]
    query = "select planned, failed, not_done from missing"
    assert rows(tmp_path, events, query) == [{"planned": 1, "failed": 0, "not_done": 1}]
    assert rows(tmp_path, [*events, retraction_event(narrow[0])], query) == [{"planned": 2, "failed": 1, "not_done": 1}]


def test_bounds_are_those_of_the_plan(tmp_path: Path) -> None:
    """One of two planned samples was scored 3: the other one may be 1 or 5."""
    events = [*planned(["q1", "q2"]), *judged("q1"), *judged("q3")]
    query = "select mean, mean_lower, mean_upper from condition_scores"
    assert rows(tmp_path, events, query) == [{"mean": 3.0, "mean_lower": 2.0, "mean_upper": 4.0}]


# Samples that changed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "changed", "counts_still"),
    [
        (["question", "answer"], "answer", False),
        pytest.param(["question", "answer"], "source", True, marks=pytest.mark.slow),
        pytest.param(["question"], "answer", True, marks=pytest.mark.slow),
        pytest.param(None, "source", False, marks=pytest.mark.slow),
    ],
)
def test_a_changed_field_outdates_judgments_that_were_given_it(
    tmp_path: Path, fields: list[str] | None, changed: str, counts_still: bool
) -> None:
    """A corrected golden answer leaves answers as they are, and judgments only of judges that do not see it."""
    response = response_event()
    judgment = judgment_event(response, sample_fields=fields)
    change = sample_change_event(sample() | {changed: "new"}, changed)
    events = [response, judgment, change]
    assert rows(tmp_path, events, "select current from judgments") == [{"current": counts_still}]
    assert rows(tmp_path, events, "select current from responses") == [{"current": True}]
    assert rows(tmp_path, events, "select state from outcomes") == [{"state": "scored" if counts_still else "not_done"}]
    again = judgment | {"sample_sha256": change["sample_sha256"]}
    assert rows(tmp_path, [*events, again], "select current from judgments") == [{"current": True}]
    late = [response, change, judgment]
    assert rows(tmp_path, late, "select current from judgments") == [{"current": counts_still}]


@pytest.mark.slow
def test_a_sample_has_its_newest_record(tmp_path: Path) -> None:
    """It is that of the last answer or change, whichever came later."""
    change = sample_change_event(sample() | {"answer": "So."}, "answer")
    query = "select sample_id, sample ->> 'answer' as answer from samples"
    assert rows(tmp_path, [response_event(), change], query) == [{"sample_id": "q1", "answer": "So."}]
    assert rows(tmp_path, [change, response_event()], query) == [{"sample_id": "q1", "answer": "Because."}]


# Metrics that are not applicable


def not_applicable(response: JsonObject) -> JsonObject:
    """Return a judgment that gives no score, with the reason."""
    none = {"score": None, "reasoning": "", "min": 1, "max": 5, "passed": None, "not_applicable": "no golden answer"}
    return judgment_event(response) | {"scores": {"completeness": none}}


def test_what_is_not_applicable_is_counted_and_in_no_number(tmp_path: Path) -> None:
    """It is neither a score nor missing: in no mean, in no bound, never «not done»."""
    response = response_event("q2")
    log = write_log(tmp_path / "log.jsonl", [*planned(["q1", "q2"]), *judged("q1"), response, not_applicable(response)])
    with projections.connect([log]) as connection:
        states = {row["sample_id"]: row["state"] for row in projections.rows_of(connection, "outcomes")}
        (score,) = projections.rows_of(connection, "condition_scores")
        reasons = [row["not_applicable"] for row in projections.rows_of(connection, "scores")]
        bodies = list(aggregate(connection, levels={"condition"}))
    assert states == {"q1": "scored", "q2": "not_applicable"}
    assert (score["planned"], score["scored"], score["not_applicable"], score["not_done"]) == (2, 1, 1, 0)
    assert (score["mean"], score["mean_lower"], score["mean_upper"], score["n_samples"]) == (3.0, 3.0, 3.0, 1)
    assert sorted(reasons, key=str) == [None, "no golden answer"]
    assert bodies[0]["mean"] == 3.0


def test_a_metric_that_is_applicable_nowhere_has_no_number(tmp_path: Path) -> None:
    """All is null, and nothing divides by 0."""
    response = response_event()
    log = write_log(tmp_path / "log.jsonl", [*planned(["q1"]), response, not_applicable(response)])
    with projections.connect([log]) as connection:
        (score,) = projections.rows_of(connection, "condition_scores")
    assert (score["mean"], score["mean_lower"], score["mean_upper"], score["not_done"]) == (None, None, None, 0)


# Pairs


@pytest.mark.slow
def test_paired_samples_are_what_comparisons_are_made_of(tmp_path: Path) -> None:
    """Each sample with a value has its row: both means, their difference and who won."""
    with_docs = response_event("q1", "with_docs")
    events = [
        *planned(["q1", "q2"], ["baseline", "with_docs"]),
        *judged("q1"), *judged("q2"), with_docs, judgment_event(with_docs, 5),
    ]  # fmt: skip
    found = rows(tmp_path, events, "from paired_samples order by sample_id")
    columns = ("sample_id", "mean", "baseline_mean", "difference", "result", "n", "baseline_n")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("q1", 5.0, 3.0, 2.0, "win", 1, 1),
        ("q2", None, 3.0, None, None, 0, 1),
    ]
    assert {(row["condition"], row["baseline"], row["judge"]) for row in found} == {("with_docs", "baseline", "rubric")}
    assert found[0]["baseline_id"] == condition_id("baseline")
    assert rows(tmp_path, events, "select difference, n_paired, n_dropped from comparisons") == [
        {"difference": 2.0, "n_paired": 1, "n_dropped": 1}
    ]
