from __future__ import annotations

from pathlib import Path

import pytest

from keval import ids, projections
from keval.ids import JsonObject
from keval.labels.labels import Said
from keval.reports import builder
from tests.builders import JUDGE_ID, judge_entry, judgment_event, response_event, run_event, write_log

ANSWER = response_event()
NEW_ID = ids.judge_id("rubric", "claude-opus-6", {})


def label(judge_id: str = JUDGE_ID) -> JsonObject:
    return Said((ANSWER["id"], judge_id, "completeness"), "ada", "valid_pass").event("run") | {
        "time": "2026-11-21T08:00:00.000Z"
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([judgment_event(ANSWER)], "calibrated: no"),
        ([judgment_event(ANSWER), label()], "calibrated by 1 label, the last one of 2026-11-21"),
        (
            [judgment_event(ANSWER), label(), judgment_event(ANSWER, 1, replicate=2)],
            "stale: 1 label, of earlier answers or judgments",
        ),
        (
            [
                judgment_event(ANSWER),
                label(),
                run_event(judges=[judge_entry(judge_id=NEW_ID)]),
                judgment_event(ANSWER, judge_id=NEW_ID),
            ],
            "stale: 1 label, of another version of the judge; it changed since",
        ),
    ],
)
def test_a_calibration_is_of_one_judge(tmp_path: Path, events: list[JsonObject], said: str) -> None:
    """Labels count for the judge_id that they name, and for what it says now; another version makes them stale."""
    log = write_log(tmp_path / "run.jsonl", [run_event(), ANSWER, *events])
    with projections.connect([log], texts=False) as connection:
        judges = builder.compose(connection).header.judges
    newest = events[-1].get("judge_id", JUDGE_ID)
    assert [judge.calibration for judge in judges if judge.judge_id == newest] == [said]


@pytest.mark.slow
def test_a_program_needs_no_calibration(tmp_path: Path) -> None:
    """A judge that asks no model is right or wrong by its own rules."""
    program = {"name": "exact", "type": "exact_match", "model": None}
    judge_id = ids.judge_id("exact_match", None, {})
    log = write_log(tmp_path / "run.jsonl", [ANSWER, judgment_event(ANSWER, judge=program, judge_id=judge_id)])
    with projections.connect([log], texts=False) as connection:
        (judge,) = builder.compose(connection).header.judges
    assert judge.calibration is None


@pytest.mark.slow
def test_an_imported_judge_may_be_calibrated(tmp_path: Path) -> None:
    """Which model gave its scores is not in the file; people may have checked them all the same."""
    imported = {"name": "vendor", "type": "imported", "model": None}
    judge_id = ids.judge_id("imported", None, {})
    judgment = judgment_event(ANSWER, judge=imported, judge_id=judge_id)
    said = []
    for labels in ([], [label(judge_id)]):
        log = write_log(tmp_path / "run.jsonl", [ANSWER, judgment, *labels])
        with projections.connect([log], texts=False) as connection:
            (judge,) = builder.compose(connection).header.judges
        said.append(judge.calibration)
    assert said == ["calibrated: no", "calibrated by 1 label, the last one of 2026-11-21"]
