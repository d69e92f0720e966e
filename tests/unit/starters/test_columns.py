"""Which fields of a questions file are what, as far as their names tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keval.errors import InputError
from keval.starters.columns import Columns, of_file, of_records


@pytest.mark.parametrize(
    ("record", "question", "answer", "sample_id"),
    [
        ({"id": "1", "question": "Why?", "answer": "So."}, "question", "answer", "id"),
        ({"Prompt": "Why?", "Expected Output": "So.", "QID": "1"}, "Prompt", "Expected Output", "QID"),
        ({"question": "Why?", "prompt": "Be brief.", "ground-truth": "So."}, "question", "ground-truth", None),
        ({"prompt": "Why?", "input": "the sky", "target": "So."}, None, "target", None),
        ({"Frage": "Warum?", "Antwort": "Darum."}, None, None, None),
        ({"question": {"text": "Why?"}, "answer": ["So.", "Thus."]}, None, None, None),
        ({"question": ["Why?", "And then?"], "answer": 4}, "question", "answer", None),
    ],
    ids=["a sample", "other case and spaces", "a name of its own first", "two could be it", "none", "no text", "list"],
)
def test_names_tell_what_fields_are(
    record: dict[str, Any], question: str | None, answer: str | None, sample_id: str | None
) -> None:
    """A known name says what a field is; where none does, or two could, nothing is guessed."""
    found = of_records([record])
    assert (found.question, found.answer, found.id) == (question, answer, sample_id)


def test_an_id_is_different_in_each_record() -> None:
    """A field that is called as an id and has one value twice is none."""
    records = [{"question": question, "answer": "So.", "qid": "1"} for question in ("Why?", "When?")]
    assert of_records(records).id is None


@pytest.mark.parametrize(
    ("tickets", "topics", "found"),
    [
        (["T-1", "T-2"], ["a", "a"], "ticket"),
        (["T-1", "T-2"], ["a", "b"], "ticket"),
        (["T 1", "T 2"], ["a", "a"], None),
        (["T-1", "T-1"], ["a", "b"], "topic"),
        (["T-1", None], ["a", "a"], None),
        (["T-1", " "], ["a", "a"], None),
    ],
    ids=["words", "the first of two", "texts", "twice", "missing", "blank"],
)
def test_a_field_that_names_every_record_could_be_its_id(
    tickets: list[str | None], topics: list[str], found: str | None
) -> None:
    """It is told and not taken: only a person knows whether it stays what it is when the record is edited."""
    records = [
        {"question": f"Why {topic}{place}?", "answer": "So.", "ticket": ticket, "topic": topic}
        for place, (ticket, topic) in enumerate(zip(tickets, topics, strict=True))
    ]
    columns = of_records(records)
    assert (columns.id, columns.could_be_id) == (None, found)
    assert of_records([{**record, "id": str(place)} for place, record in enumerate(records)]).could_be_id is None


def test_without_other_fields_there_is_no_golden_answer() -> None:
    """A file of questions alone has no golden answers; of another field a person has to say that it is none."""
    alone = of_records([{"question": "Why?"}])
    assert (alone.are_told, alone.keys) == (True, {"answer_key": None})
    assert not of_records([{"question": "Why?", "Antwort": "Darum."}]).are_told


@pytest.mark.parametrize(
    "record",
    [
        {"id": 7, "question": "How many?", "answer": 4},
        {"nr": 7, "prompt": "How many?", "expected": 4.5},
        {"input": "How many?"},
        {"Prompt": "How many?", "Ideal": "4"},
    ],
    ids=["numbers", "numbers with other names", "no answers", "other names"],
)
def test_what_is_told_can_be_read(record: dict[str, Any], tmp_path: Path) -> None:
    """The layout that follows from the names makes samples of the records."""
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(record) + "\n")
    found = of_file(path)
    assert (found.are_told, found.samples) == (True, 1)


def test_a_record_without_its_answer_is_named(tmp_path: Path) -> None:
    """What is wrong with a file is said by its lines, as a check of the config would."""
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "Why?", "answer": "So."}\n{"question": "When?", "answer": null}\n')
    with pytest.raises(InputError, match=r"questions\.jsonl:2: answer: must be a string, not null"):
        of_file(path)


def test_a_table_without_a_header_is_suspected() -> None:
    """Names that are whole sentences or numbers may be the first record."""
    assert of_records([{"Why is the sky blue?": "And the sea?", "So.": "So."}]).maybe_headless
    assert not Columns(examples={"Frage": "Warum?"}).maybe_headless
