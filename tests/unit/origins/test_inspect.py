"""Logs of Inspect become answers, tool calls and scores, archives and JSON alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from backports.zstd import zipfile

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins.inspect import Inspect

HEADER: JsonObject = {
    "version": 2, "status": "success",
    "eval": {"task": "lamps", "model": "mockllm/model", "created": "2026-03-01T12:00:00+00:00"},
}  # fmt: skip
CALLS = [
    {"role": "user", "content": "How long?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "search", "arguments": {"q": "lamp"}}]},
    {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "30 days"}]},
]


def sample(name: str, epoch: int, grade: object, **fields: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """Return one sample as Inspect writes it."""
    return {
        "id": name, "epoch": epoch, "input": "How long?", "target": "30 days", "messages": CALLS,
        "output": {"model": "mockllm/model", "completion": "30 days."},
        "scores": {"match": {"value": grade}, "length": {"value": 12}}, "total_time": 1.5,
        "model_usage": {"mockllm/model": {"input_tokens": 11, "output_tokens": 4}}, **fields,
    }  # fmt: skip


SAMPLES = [
    sample("a/b", 1, "C"),
    sample("a/b", 2, "I"),
    sample("c", 1, "P"),
    sample("c", 2, "C", error={"message": "down"}, scores={}),
]


def as_json(folder: Path, samples: list[JsonObject]) -> Path:
    """Write a log as JSON."""
    path = folder / "log.json"
    path.write_bytes(orjson.dumps({**HEADER, "samples": samples}))
    return path


def as_archive(folder: Path, samples: list[JsonObject]) -> Path:
    """Write a log as an archive, compressed as Inspect does it."""
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_ZSTANDARD) as archive:
        for place, each in enumerate(samples):
            archive.writestr(f"samples/{place}_epoch_{each['epoch']}.json", orjson.dumps(each))
        archive.writestr("header.json", orjson.dumps(HEADER))
    return path


@pytest.mark.parametrize("write", [as_json, as_archive])
def test_each_sample_and_epoch_has_its_answer_and_scores(write: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    """Grades are numbers from 0 to 1; a sample that failed has no answer; what has no scale is named."""
    path = write(tmp_path, SAMPLES)
    assert Inspect().fits(path.read_bytes()[:4096])
    found = Inspect().read(path)
    records = list(found.rows())
    assert [(each["id"], each["repetition"], each["score_0"]) for each in records] == [
        ("a/b", 1, 1.0), ("a/b", 2, 0.0), ("c", 1, 0.5)
    ]  # fmt: skip
    assert list(found.metrics) == ["match"]
    assert found.left_out == ["1 row is left out: the sample ended in an error", "no scale is known of: length"]
    first = records[0]
    assert first["tool_calls"] == [{"name": "search", "input": {"q": "lamp"}, "result": "30 days"}]
    assert [first[name] for name in ("text", "answer", "condition", "input_tokens", "duration_ms")] == [
        "30 days.", "30 days", "mockllm/model", 11, 1500
    ]  # fmt: skip


def test_messages_and_lists_of_targets_are_texts(tmp_path: Path) -> None:
    """Of messages what the user said; of several targets all."""
    asked = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "How?"}]},
    ]
    (record,) = Inspect().read(as_json(tmp_path, [sample("a", 1, "C", input=asked, target=["x", "y"])])).rows()
    assert (record["question"], record["answer"]) == ("How?", "x | y")


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"PK\x03\x04cut", "cannot be read as an archive"), (b'{"version": 2, "eval": {}}', "no samples in it"),
     (b'{"version": 2, "eval": {}, "samples": [{"scores": 5}]}', r"samples\[0\].scores"), (b"{", "not JSON")],
)  # fmt: skip
def test_another_form_is_told_with_its_place(content: bytes, told: str, tmp_path: Path) -> None:
    """Nothing is guessed of a file that is otherwise."""
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        Inspect().read(path)
