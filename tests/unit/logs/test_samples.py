from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keval import ids
from keval.ids import JsonObject
from keval.logs import history
from keval.logs.samples import NewestRecords
from tests.builders import response_event, sample, sample_change_event, write_log

CORRECTED = {**sample("q1"), "answer": "Since."}


def records(tmp_path: Path, events: Sequence[JsonObject], *of_dataset: JsonObject) -> NewestRecords:
    """Return the newest records of a log of these events, for a run over these samples."""
    log = write_log(tmp_path / "log.jsonl", events)
    questions = {response_event(each["id"], question=each["question"])["question_id"]: each for each in of_dataset}
    return NewestRecords(log, history.of_log(log, lambda _: None), questions)


def test_an_answer_is_judged_by_the_newest_record_of_its_sample(tmp_path: Path) -> None:
    """The record comes from the line in which it was noted, wherever in the log that is; all else stays."""
    first, other = response_event("q1"), response_event("q2")
    found = records(tmp_path, [first, sample_change_event(CORRECTED, "answer"), other])
    assert found.put_into(first) == first | {"sample": CORRECTED, "sample_sha256": ids.sample_sha256(CORRECTED)}
    assert found.put_into(other) == other


def test_a_later_answer_brings_the_newest_record_too(tmp_path: Path) -> None:
    """What a later repetition was asked from is newer than what the first was asked from."""
    first = response_event("q1")
    later = response_event("q1", repetition=2, sample=CORRECTED, sample_sha256=ids.sample_sha256(CORRECTED))
    assert records(tmp_path, [first, later]).put_into(first)["sample"] == CORRECTED


def test_an_answer_to_an_earlier_question_keeps_its_record(tmp_path: Path) -> None:
    """To judge it by the golden answer to another question would be wrong."""
    first = response_event("q1", question="Why?")
    now = {**CORRECTED, "question": "Why not?"}
    assert records(tmp_path, [first, sample_change_event(now, "question", "answer")]).put_into(first) == first
    assert records(tmp_path, [first], now).put_into(first) == first


def test_the_dataset_of_a_run_is_newer_than_its_log(tmp_path: Path) -> None:
    """A run judges what earlier runs left by the records that it has read itself."""
    first = response_event("q1")
    assert records(tmp_path, [first], CORRECTED).put_into(first)["sample"] == CORRECTED
