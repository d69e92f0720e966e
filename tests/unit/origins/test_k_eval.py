"""Results of k-eval become answers, each with its three scores."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import tool_call
from keval.origins.k_eval import KEval
from tests.origins import k_eval_row


def written(folder: Path, rows: list[JsonObject]) -> Path:
    """Write a file as k-eval names it."""
    path = folder / "lamps_20260301_0000.detailed.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def test_each_repetition_is_an_answer_with_scores_from_1_to_5(tmp_path: Path) -> None:
    """What k-eval sums or collects over repetitions is not known of one of them, and said to be left out."""
    path = written(tmp_path, [k_eval_row(0, "baseline", [2, 4]), k_eval_row(0, "with/shop", [5, 5])])
    assert KEval().fits(path.read_bytes()[:4096])
    found = KEval().read(path)
    records = list(found.rows())
    assert [(each["condition"], each["repetition"], each["text"], each["factual_adherence"]) for each in records] == [
        ("baseline", 1, "2 days", 2), ("baseline", 2, "4 days", 4),
        ("with/shop", 1, "5 days", 5), ("with/shop", 2, "5 days", 5),
    ]  # fmt: skip
    metrics = found.mapping()["judges"][0]["metrics"]
    assert {(each["min"], each["max"]) for each in metrics.values()} == {(1, 5)}
    assert (found.name, [sentence.partition(" are ")[0] for sentence in found.left_out]) == (
        "lamps", ["tokens", "unverified claims"]
    )  # fmt: skip
    first = records[0]
    assert [first[name] for name in ("id", "question", "answer", "model", "cost_usd", "num_turns")] == [
        "0", "Question 0", "30 days", "model", 0.5, 2
    ]  # fmt: skip
    assert (first["input_tokens"], first["time"]) == (None, "2026-03-01T12:00:00+00:00")
    assert [first[f"{name}_reasoning"] for name in metrics] == ["because 2", "all", None]


def test_tool_calls_are_of_their_repetition(tmp_path: Path) -> None:
    """One that was never answered has no result; its server is known by its name."""
    one, other = KEval().read(written(tmp_path, [k_eval_row(0, "baseline", [2, 4])])).rows()
    assert one["tool_calls"] == [tool_call("mcp__shop__find", {"q": "lamp"}, "30 days", duration_ms=12.5)]
    assert other["tool_calls"] == [tool_call("mcp__shop__find", {"q": "lamp"}, failed=True)]
    assert one["tool_calls"][0]["server"] == "shop"


def test_tokens_of_one_repetition_are_those_of_its_answer(tmp_path: Path) -> None:
    """There is nothing that they could be the sum of, and a time of 0 is none."""
    details = {"evaluation_timestamp": 0}
    found = KEval().read(written(tmp_path, [k_eval_row(0, "baseline", [2], evaluation={"details": details})]))
    (record,) = found.rows()
    assert (record["input_tokens"], record["output_tokens"], record["time"]) == (70, 30, None)
    assert found.left_out == []


def test_conditions_of_several_configs_keep_their_configs_names(tmp_path: Path) -> None:
    """Of files that were put together two conditions of one name are two."""
    rows = [k_eval_row(0, "baseline", [2]), k_eval_row(0, "", [2], evaluation_name="chairs/baseline")]
    conditions = [each["condition"] for each in KEval().read(written(tmp_path, rows)).rows()]
    assert conditions == ["lamps/baseline", "chairs/baseline"]


def test_an_exchange_file_of_another_tool_is_not_taken_for_k_evals() -> None:
    """It numbers its samples otherwise."""
    assert not KEval().fits(b'{"schema_version": "instance_level_eval_0.2.1", "sample_id": "0"}')


@pytest.mark.parametrize(
    ("row", "told"),
    [({}, "line 1"), (k_eval_row(0, "a", [2], run_details={}), r"line 1\.run_details"),
     (k_eval_row(0, "a", [2], input={"raw": "q"}), r"line 1\.input")],
)  # fmt: skip
def test_another_form_is_told_with_its_place(row: JsonObject, told: str, tmp_path: Path) -> None:
    """Nothing is guessed of a file that is otherwise."""
    with pytest.raises(InputError, match=told):
        KEval().read(written(tmp_path, [row]))


def test_a_file_without_rows_is_told(tmp_path: Path) -> None:
    """Such as one of a run that ended before it began."""
    with pytest.raises(InputError, match="no rows in it"):
        KEval().read(written(tmp_path, []))
