from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from keval import ids, schema
from keval.config.reader import load
from keval.ids import JsonObject
from keval.logs.past import Past
from keval.preparation.prepared import prepare
from keval.preparation.sample_changes import sample_changes, told_of_samples
from tests.builders import (
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    sample,
    sample_change_event,
)
from tests.jobs import exact_judge
from tests.tasks import config_past, past_of

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


def test_corrected_records_are_named_with_who_judges_them_anew(tmp_path: Path) -> None:
    """Edited questions are told elsewhere; what no judge is given has nothing judged anew."""
    past, judges = Past(tmp_path / "log.jsonl"), [exact_judge()]
    assert told_of_samples([], past, judges) is None
    assert told_of_samples([sample_change_event(sample("q1"), "question", "answer")], past, judges) is None
    assert told_of_samples([sample_change_event(sample("q1"), "topic")], past, judges) is None
    changes = [sample_change_event(sample(f"q{number}"), "answer") for number in range(2)]
    assert told_of_samples(changes, past, judges) == (
        "2 records of the dataset changed (q0, q1: answer), for which no answer is asked again; "
        "exact judges anew what has no judgment of it as it is now"
    )
    assert "(q0, q1, q0, q1, q0, and 1 more: answer)" in str(told_of_samples(changes * 3, past, judges))


def test_judges_that_were_added_to_the_log_are_named_with_what_makes_them_judge() -> None:
    """No run does; one that was given other fields, or that the config has by now, is not named."""
    answer, by_now = response_event("q1"), exact_judge()
    given = {"added": None, "blind": ["topic"], "exact": ["answer"]}
    known = {"added": "a" * 24, "blind": "b" * 24, "exact": by_now.judge_id}
    events = [
        run_event(("baseline",), samples=1),
        answer,
        run_event((), judges=[judge_entry(name=name, judge_id=known[name]) for name in given]),
        *(judgment_event(answer, 4, judge_id=known[name], sample_fields=given[name]) for name in given),
    ]
    change = sample_change_event(sample("q1"), "answer")
    with past_of(events) as past:
        assert told_of_samples([change], past, [by_now]) == (
            "1 record of the dataset changed (q1: answer), for which no answer is asked again; "
            "exact judges anew what has no judgment of it as it is now; "
            "added judges it only by keval judge LOG -j JUDGE.yaml, as the config does not name it"
        )
