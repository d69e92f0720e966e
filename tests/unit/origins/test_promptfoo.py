"""Results of promptfoo become answers and scores, whatever their form."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins.promptfoo import Promptfoo
from tests.origins import PROMPTFOO_ROWS, promptfoo_file, promptfoo_row


def test_each_answer_has_its_question_condition_and_scores(tmp_path: Path) -> None:
    """Of several providers each is a condition; an unknown price is no price; what failed has no answer."""
    path = promptfoo_file(tmp_path, PROMPTFOO_ROWS)
    assert Promptfoo().fits(path.read_bytes()[:4096])
    found = Promptfoo().read(path)
    *records, failed = found.rows()
    assert [(each["condition"], each["question"], each["text"], each["answer"]) for each in records] == [
        ("a", "q0", "yes", "yes"), ("a", "q1", "no", "yes"), ("b", "q0", "yes", "yes")
    ]  # fmt: skip
    assert (failed["condition"], failed["question"], failed["answer"]) == ("b", "q1", "yes")
    assert failed["failure"] == {"kind": "infra_error", "message": "the provider gave no answer"}
    assert {each["failure"] for each in records} == {None}
    for said in ({"error": "down"}, {"response": {"error": "down"}}):
        row = promptfoo_row(0, "a", None) | said
        (told,) = Promptfoo().read(promptfoo_file(tmp_path, [row])).rows()
        assert told["failure"] == {"kind": "infra_error", "message": "down"}
    assert records[0]["id"] == records[2]["id"] != records[1]["id"]
    places = found.metrics
    assert list(places) == ["pass", "score", "tone"]
    assert [each[places["pass"]] for each in records] == [1.0, 0.0, 1.0]
    assert [records[0][name] for name in ("cost_usd", "duration_ms", "input_tokens", "output_tokens")] == [
        None,
        12,
        7,
        3,
    ]
    assert found.left_out == ["no scale is known of: words"]
    assert (found.name, found.has_golden_answers) == ("lamps", True)


def test_prompts_that_differ_are_conditions(tmp_path: Path) -> None:
    """By their labels, or by their places where a label is the prompt itself."""
    long = "Answer as a pirate. " * 10
    rows = [promptfoo_row(0, "a", "yes"), promptfoo_row(0, "a", "no", promptIdx=1, prompt={"raw": long, "label": long})]
    conditions = [each["condition"] for each in Promptfoo().read(promptfoo_file(tmp_path, rows)).rows()]
    assert conditions == ["a, Answer: {{question}}", "a, prompt 2"]


def test_columns_that_only_their_number_tells_apart_are_conditions(tmp_path: Path) -> None:
    """One provider with two configs is compared with itself; its answers are no repetitions."""
    rows = [promptfoo_row(0, "a", "yes", promptIdx=place) for place in (0, 1, 0)]
    found = Promptfoo().read(promptfoo_file(tmp_path, rows))
    assert [row["condition"] for row in found.rows()] == ["a, column 1", "a, column 2", "a, column 1"]


def test_one_prompt_to_two_providers_is_no_condition(tmp_path: Path) -> None:
    """Columns are numbered, which are pairs of a provider and a prompt."""
    long = {"raw": "Answer.", "label": "Answer:\n{{question}}"}
    rows = [promptfoo_row(0, name, "yes", promptIdx=place, prompt=long) for place, name in enumerate("ab")]
    assert [row["condition"] for row in Promptfoo().read(promptfoo_file(tmp_path, rows)).rows()] == ["a", "b"]


def test_a_named_score_does_not_take_the_place_of_promptfoos_own(tmp_path: Path) -> None:
    """A metric may be called as it likes, also as another one is renamed."""
    named = {"score": 0.25, "pass": 0, "named pass": 0.75, "named cats": 0.5}
    row = promptfoo_row(0, "a", "yes", score=1, success=True, namedScores=named)
    found = Promptfoo().read(promptfoo_file(tmp_path, [row]))
    (record,) = found.rows()
    assert {name: record[place] for name, place in found.metrics.items()} == {
        "pass": 1.0, "score": 1.0, "named score": 0.25, "named pass": 0.0, "named named pass": 0.75,
        "named cats": 0.5,
    }  # fmt: skip


def test_tests_that_look_for_something_else_are_samples_of_their_own(tmp_path: Path) -> None:
    """They ask the same, and their scores are not repetitions of each other."""
    checks: list[JsonObject] = [{"type": "equals", "value": "yes"}, {"type": "javascript", "value": "true"}]
    rows = [promptfoo_row(0, "a", "yes", testCase={"assert": [check]}) for check in checks]
    assert len({each["id"] for each in Promptfoo().read(promptfoo_file(tmp_path, rows)).rows()}) == 2


def test_promptfoos_own_scores_bring_their_reason(tmp_path: Path) -> None:
    """It is one for the row; named scores have none."""
    row = promptfoo_row(0, "a", "yes", namedScores={"tone": 1}, gradingResult={"reason": "All assertions passed"})
    found = Promptfoo().read(promptfoo_file(tmp_path, [row]))
    metrics = found.mapping()["judges"][0]["metrics"]
    assert {name: metric.get("reasoning") for name, metric in metrics.items()} == {
        "pass": {"field": "reason"}, "score": {"field": "reason"}, "tone": None
    }  # fmt: skip
    assert next(found.rows())["reason"] == "All assertions passed"
    strange = promptfoo_row(0, "a", "yes", gradingResult={"reason": ["not", "a", "text"]})
    assert next(Promptfoo().read(promptfoo_file(tmp_path, [strange])).rows())["reason"] is None


def test_json_lines_are_read_alike(tmp_path: Path) -> None:
    """One row a line, without the head of a whole file."""
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, PROMPTFOO_ROWS)))
    assert Promptfoo().fits(path.read_bytes()[:4096])
    assert len(list(Promptfoo().read(path).rows())) == 4


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{}", "no rows of promptfoo"),
        (b'{"results": {"results": [{"response": "text"}]}}', r"results.results\[0\].response"),
        (b'{"testIdx": 0}\n{"cut', "line 2 is not JSON"),
    ],
)
def test_another_form_is_told_with_its_place(content: bytes, told: str, tmp_path: Path) -> None:
    """Nothing is guessed of a file that is otherwise."""
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        Promptfoo().read(path)


@pytest.mark.parametrize(
    "value", [r'"\ud800"', "1" + "0" * 30, "[" * 300 + "]" * 300], ids=["text", "integer", "depth"]
)
@pytest.mark.parametrize("row", ['{"vars": {"a": VALUE}}', '{"response": {"output": {"a": VALUE}}}'])
def test_what_no_event_can_hold_is_told_with_its_place(value: str, row: str, tmp_path: Path) -> None:
    """A variable becomes part of an id, and an output that is no text a text."""
    path = tmp_path / "results.json"
    path.write_text('{"results": {"results": [{"score": NaN}, ' + row.replace("VALUE", value) + "]}}")
    with pytest.raises(InputError, match=r"results.results\[1\]: "):
        Promptfoo().read(path)
