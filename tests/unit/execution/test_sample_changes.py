from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from keval import ids, schema
from keval.config.reader import load
from keval.execution.preparation import prepare
from keval.execution.sample_changes import changed_fields, sample_changes, told_of_samples
from keval.ids import JsonObject
from tests.builders import response_event, sample, sample_change_event
from tests.jobs import exact_judge
from tests.tasks import config_past

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
"""


def found(tmp_path: Path, events: Sequence[JsonObject], samples: Sequence[JsonObject]) -> list[JsonObject]:
    """Return what a run over these samples would write into a log of these events."""
    (tmp_path / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, samples)))
    (tmp_path / "eval.yaml").write_text(CONFIG)
    prepared = prepare(load(tmp_path / "eval.yaml"), None, warn=lambda _: None)
    with config_past(prepared, events) as about:
        return list(sample_changes(about, "run"))


def test_fields_differ_that_are_new_gone_or_edited() -> None:
    """Null is a value like others, and the order of fields is none of their business."""
    before = {"id": "a", "question": "Q?", "answer": "A", "old": 1, "gone": None}
    now = {"answer": "B", "question": "Q?", "id": "a", "new": None, "old": 1}
    assert changed_fields(before, now) == ["answer", "new", "gone"]
    assert changed_fields(before, dict(reversed(before.items()))) == []


def test_a_sample_that_is_what_the_log_has_is_no_change(tmp_path: Path) -> None:
    """Nor is one that the log never had: its first response will tell."""
    assert found(tmp_path, [response_event("q1")], [sample("q1"), sample("q2")]) == []


def test_a_change_holds_the_whole_record_and_what_differs(tmp_path: Path) -> None:
    """The event is valid, and says by its hashes which record and which question it is about."""
    now = {**sample("q1"), "answer": "Since.", "topic": "x"}
    (change,) = found(tmp_path, [response_event("q1")], [now])
    assert schema.event_problem(orjson.loads(orjson.dumps(change))) is None
    assert (change["sample"], change["changed"]) == (now, ["answer", "topic"])
    assert change["sample_sha256"] == ids.sample_sha256(now)
    assert change["question_id"] == response_event("q1")["question_id"]


def test_the_newest_record_is_compared_wherever_it_stands(tmp_path: Path) -> None:
    """A change that was noted is none any more; going back to the first record is one again."""
    corrected = {**sample("q1"), "answer": "Since."}
    events = [response_event("q1"), response_event("q2"), sample_change_event(corrected, "answer")]
    assert found(tmp_path, events, [corrected]) == []
    (back,) = found(tmp_path, events, [sample("q1")])
    assert back["changed"] == ["answer"]
    again = [*events, back]
    assert found(tmp_path, again, [sample("q1")]) == []


def test_corrected_records_are_named_with_who_judges_them_anew() -> None:
    """Edited questions are told elsewhere; what no judge is given has nothing judged anew."""
    judges = [exact_judge()]
    assert told_of_samples([], judges) is None
    assert told_of_samples([sample_change_event(sample("q1"), "question", "answer")], judges) is None
    assert told_of_samples([sample_change_event(sample("q1"), "topic")], judges) is None
    changes = [sample_change_event(sample(f"q{number}"), "answer") for number in range(2)]
    assert told_of_samples(changes, judges) == (
        "2 records of the dataset changed (q0, q1: answer): no answer is asked again; judged anew by exact"
    )
    assert "(q0, q1, q0, …: answer)" in str(told_of_samples([*changes, *changes], judges))
