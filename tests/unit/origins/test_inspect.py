"""Logs of Inspect become answers, tool calls and scores, archives and JSON alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import tool_call
from keval.origins.inspect import Inspect
from tests.origins import INSPECT_SAMPLES, inspect_archive, inspect_json, inspect_sample


@pytest.mark.parametrize("write", [inspect_json, inspect_archive])
def test_each_sample_and_epoch_has_its_answer_and_scores(write: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    """Grades are numbers from 0 to 1; a sample that failed has no answer; what has no scale is named."""
    path = write(tmp_path, INSPECT_SAMPLES)
    assert Inspect().fits(path.read_bytes()[:4096])
    found = Inspect().read(path)
    *records, failed = found.rows()
    assert failed["failure"] == {"kind": "infra_error", "message": "down"}
    assert {each["failure"] for each in records} == {None}
    assert [(each["id"], each["repetition"], each["score_0"]) for each in records] == [
        ("a/b", 1, 1.0), ("a/b", 2, 0.0), ("c", 1, 0.5)
    ]  # fmt: skip
    assert list(found.metrics) == ["match"]
    assert found.left_out == ["no scale is known of: length"]
    first = records[0]
    assert first["tool_calls"] == [tool_call("search", {"q": "lamp"}, "30 days")]
    assert [first[name] for name in ("text", "answer", "condition", "input_tokens", "duration_ms")] == [
        "30 days.", "30 days", "mockllm/model", 11, 1500
    ]  # fmt: skip


def test_messages_and_lists_of_targets_are_texts(tmp_path: Path) -> None:
    """Of messages what the user said; of several targets all."""
    asked = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "How?"}]},
    ]
    (record,) = (
        Inspect().read(inspect_json(tmp_path, [inspect_sample("a", 1, "C", input=asked, target=["x", "y"])])).rows()
    )
    assert (record["question"], record["answer"]) == ("How?", "x | y")


def test_a_choice_is_asked_with_what_there_is_to_choose_from(tmp_path: Path) -> None:
    """The golden answer is a letter; a question that has the choices in it stays as it is."""
    choices = ["London", "Paris"]
    lettered = "How long?\nA) London\nB) Paris"
    samples = [
        inspect_sample("a", 1, "C", choices=choices),
        inspect_sample("b", 1, "C", choices=choices, input=lettered),
    ]
    first, second = Inspect().read(inspect_json(tmp_path, samples)).rows()
    plain = Inspect().read(inspect_json(tmp_path, [inspect_sample("a", 1, "C")])).rows()
    assert first["question"] == f"{next(iter(plain))['question']}\n\nA) London\nB) Paris"
    assert second["question"] == lettered


def test_texts_that_inspect_takes_for_numbers_are_scores(tmp_path: Path) -> None:
    """Yes and no, true and false, and digits; another text has no scale."""
    samples = [
        inspect_sample(str(place), 1, "C", scores={"s": {"value": value}})
        for place, value in enumerate(["yes", "No", "true", "0.5"])
    ]
    found = Inspect().read(inspect_json(tmp_path, samples))
    assert [each[found.metrics["s"]] for each in found.rows()] == [1.0, 0.0, 1.0, 0.5]


def test_scores_bring_the_explanation_of_their_scorer(tmp_path: Path) -> None:
    """One that gives several scores has one for all of them; one that says nothing has none."""
    scores = {
        "match": {"value": "C", "explanation": "It is there."},
        "both": {"value": {"x": 1, "y": 0}, "explanation": "x, not y."},
        "other": {"value": 0.5},
    }
    found = Inspect().read(inspect_json(tmp_path, [inspect_sample("a", 1, "C", scores=scores)]))
    (record,) = found.rows()
    assert {name: record[place] for name, place in found.reasons.items()} == {
        "match": "It is there.", "both,x": "x, not y.", "both,y": "x, not y."
    }  # fmt: skip
    assert found.mapping()["judges"][0]["metrics"]["match"]["reasoning"] == {"field": found.reasons["match"]}


def test_what_the_metadata_says_of_a_sample_becomes_its_fields(tmp_path: Path) -> None:
    """What differs by epoch a solver wrote, so it says nothing of the sample."""
    samples = [
        inspect_sample("a", 1, "C", metadata={"category": "geo", "tries": 1, "id": 7}),
        inspect_sample("a", 2, "C", metadata={"category": "geo", "tries": 2, "id": 7}),
        inspect_sample("b", 1, "C", metadata=None),
    ]
    found = Inspect().read(inspect_json(tmp_path, samples))
    (place,) = found.sample_fields.values()
    assert list(found.sample_fields) == ["category"]
    assert [record[place] for record in found.rows()] == ["geo", "geo", None]


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"PK\x03\x04cut", "cut off, damaged or no archive"), (b'{"version": 2, "eval": {}}', "no samples in it"),
     (b'{"version": 2, "eval": {}, "samples": [{"scores": 5}]}', r"samples\[0\].scores"), (b"{", "not JSON")],
)  # fmt: skip
def test_another_form_is_told_with_its_place(content: bytes, told: str, tmp_path: Path) -> None:
    """Nothing is guessed of a file that is otherwise."""
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        Inspect().read(path)


def test_a_large_member_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small archive may hold more than a memory does."""
    monkeypatch.setattr("keval.origins._archive.MOST_BYTES", 2**6)
    with pytest.raises(InputError, match=r"json is larger than"):
        Inspect().read(inspect_archive(tmp_path, INSPECT_SAMPLES))


@pytest.mark.parametrize(
    ("answer", "result"),
    [({"content": "", "error": {"type": "timeout", "message": "too slow"}}, "too slow"), ({}, None)],
)
def test_a_call_that_has_no_answer_failed(answer: JsonObject, result: str | None, tmp_path: Path) -> None:
    """Nor did one that the tool could not answer succeed; an id may be anything."""
    call = {"id": [], "function": "search", "arguments": {"q": "lamp"}}
    asked = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": [], **answer}]
    messages = asked if answer else asked[:1]
    (record,) = Inspect().read(inspect_json(tmp_path, [inspect_sample("a", 1, "C", messages=messages)])).rows()
    assert record["tool_calls"] == [tool_call("search", {"q": "lamp"}, result, failed=True)]


@pytest.mark.parametrize("message", ["plain", ["plain"]])
def test_an_answer_that_is_no_message_is_told_with_its_place(message: object, tmp_path: Path) -> None:
    """What is expected there is an object."""
    path = inspect_json(tmp_path, [inspect_sample("a", 1, "C", output={"choices": [{"message": message}]})])
    with pytest.raises(InputError, match=r"samples\[0\].output.choices\[0\].message"):
        Inspect().read(path)


def test_two_scores_of_one_name_are_refused(tmp_path: Path) -> None:
    """The name of a scorer may be that of another one's score."""
    sample = inspect_sample("a", 1, "C", scores={"s": {"value": {"a": 1}}, "s,a": {"value": 0}})
    with pytest.raises(InputError, match="two scores of sample 'a' are called 's,a'"):
        Inspect().read(inspect_json(tmp_path, [sample]))
