"""A row says what it says, and what is wrong with it is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keval.config.import_mapping import load
from keval.imports.rows import RowReader
from tests.importing import MAPPING, ROW


def reader(folder: Path) -> RowReader:
    """Return a reader of rows by the mapping."""
    (folder / "mapping.yaml").write_text(MAPPING)
    return RowReader(load(folder / "mapping.yaml", {}, "rows"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"out": None}, "text: 'out' is null, neither text nor a number"),
        ({"gold": "1080"}, "answer: 'gold' holds no '####'"),
        ({"prompt": " "}, "question: is blank"),
        ({"run": 0}, "repetition: must be from 1 to 10000, not 0"),
        ({"run": "second"}, "repetition: must be a number, not 'second'"),
        ({"at": "yesterday"}, "time: must be a time such as 2026-03-01T12:00:00Z"),
        ({"at": "9999-12-31T23:59:59-12:00"}, "time: "),
        ({"usage": {"out": 1.5}}, "output_tokens: must be a whole number from 0 to 1,000,000,000,000, not 1.5"),
        ({"cost": -1}, "cost_usd: must be an amount from 0 to 1,000,000,000, not -1"),
        ({"pages": "Sums"}, "sources: must be a list of texts, not 'Sums'"),
        ({"calls": "add"}, "tool_calls: 'calls' is not a list of objects"),
        ({"calls": [{"function": {"name": "add", "arguments": "a=1"}, "result": ""}]}, "tool_calls: input: must be"),
        ({"ok": 2}, "correct: the score 2 is outside of the scale, 0 to 1"),
        ({"ok": "yes"}, "correct: must be a number, not 'yes'"),
    ],
)
def test_what_a_row_has_in_another_form_is_a_problem(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    """Nothing is turned into something else: the one field that is wrong is named."""
    (problem,) = reader(tmp_path).read({**ROW, **change}).problems
    assert problem.startswith(told)


def test_all_that_is_wrong_with_a_row_is_said_at_once(tmp_path: Path) -> None:
    """Whoever corrects a file sees all of it."""
    problems = reader(tmp_path).read({"prompt": "Q?"}).problems
    assert {problem.partition(":")[0] for problem in problems} == {
        "id", "answer", "level", "text", "condition", "repetition", "time", "output_tokens", "cost_usd", "sources",
        "tool_calls", "correct",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ok", "score"),
    [(True, 1), (False, 0), (1, 1), ("0", 0), ("0.5", 0.5), (" 1e-1 ", 0.1), (".5", 0.5), ("True", 1), ("FALSE", 0)],
)
def test_a_score_is_a_number_or_a_truth_value(tmp_path: Path, ok: object, score: float) -> None:
    """True and false are the ends of the scale, and a text may hold a number, as in a CSV file."""
    assert reader(tmp_path).read({**ROW, "ok": ok}).scores["board"]["correct"]["score"] == score


@pytest.mark.parametrize(("ok", "is_pass"), [(1, True), (1 - 1e-9, True), (0.99, False), (None, None)])
def test_a_score_passes_as_it_does_in_a_report(tmp_path: Path, ok: float | None, is_pass: bool | None) -> None:
    """Arithmetic with floats of whoever made the file is no reason to fail."""
    assert reader(tmp_path).read({**ROW, "ok": ok}).scores["board"]["correct"]["passed"] is is_pass


@pytest.mark.parametrize("ok", [None, ""])
def test_a_score_that_is_not_there_is_not_the_worst_one(tmp_path: Path, ok: object) -> None:
    """It is missing, and that is no problem."""
    row = reader(tmp_path).read({**ROW, "ok": ok})
    assert (row.scores["board"]["correct"]["score"], row.problems) == (None, [])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"a": 100000000000000000000000000000}', "an integer beyond 64 bits"),
        ('{"a": ' * 300 + "1" + "}" * 300, "nested deeper than 200 levels"),
        ('{"a": ' * 100_000, "must be an object or JSON text of one"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1e999}', "1e999 is beyond what a number can hold"),
        ('{"a": 1, "a": 2}', "the key 'a' appears twice in one object"),
    ],
)
def test_arguments_that_no_event_can_hold_are_a_problem(tmp_path: Path, arguments: str, told: str) -> None:
    """Text inside of a row is read as strictly as the row itself."""
    call = {"function": {"name": "add", "arguments": arguments}, "result": "2"}
    (problem,) = reader(tmp_path).read({**ROW, "calls": [call]}).problems
    assert problem.startswith("tool_calls: input: ")
    assert told in problem


@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}'])
def test_arguments_are_an_object_or_its_text(tmp_path: Path, arguments: object) -> None:
    """Some services write them as text."""
    call = {"function": {"name": "add", "arguments": arguments}, "result": "2"}
    turn, _ = reader(tmp_path).read({**ROW, "calls": [call]}).turns
    assert (turn["input"], turn["result"]) == ({"a": 1}, "2")


@pytest.mark.parametrize(
    ("said", "failed"),
    [(True, True), (False, False), ("timed out", True), ("False", False), ("", False), (None, False)],
)
def test_a_call_fails_if_it_is_said(tmp_path: Path, said: object, failed: bool) -> None:
    """By true, or by what went wrong; how long it took is a number of whole milliseconds."""
    call = {"function": {"name": "add", "arguments": {}}, "result": "2", "error": said, "duration_ms": 12.4}
    turn, _ = reader(tmp_path).read({**ROW, "calls": [call]}).turns
    assert (turn["error"], turn["duration_ms"]) == (failed, 12)


@pytest.mark.parametrize(("name", "value"), [("error", 1), ("error", []), ("duration_ms", -1), ("duration_ms", "x")])
def test_what_a_call_says_otherwise_is_a_problem(tmp_path: Path, name: str, value: object) -> None:
    """Nothing is guessed of it."""
    call = {"function": {"name": "add", "arguments": {}}, "result": "2", name: value}
    (problem,) = reader(tmp_path).read({**ROW, "calls": [call]}).problems
    assert problem.startswith(f"tool_calls: {name}: must be")


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ("timed out", "agent_error", "timed out"),
        (True, "agent_error", "the file does not say why"),
        ("True", "agent_error", "the file does not say why"),
        (1, "agent_error", "the file does not say why"),
        ("1", "agent_error", "the file does not say why"),
        ({"kind": "infra_error", "message": "overloaded"}, "infra_error", "overloaded"),
        ({"kind": "timeout"}, "timeout", ""),
    ],
)
def test_a_row_that_failed_needs_no_answer(tmp_path: Path, said: object, kind: str, message: str) -> None:
    """And it has no scores, whatever stands there."""
    row = reader(tmp_path).read({**ROW, "failure": said, "out": None, "ok": 1})
    assert row.failure == {"kind": kind, "message": message}
    assert (row.problems, row.text, row.scores) == ([], "", {})
    partly = reader(tmp_path).read({**ROW, "failure": said, "out": "Half of it", "calls": []})
    assert partly.turns == [{"type": "text", "text": "Half of it"}]
    for golden in (None, "G"):
        plain = RowReader(load(None, {}, "rows")).read({"id": "1", "question": "Q?", "failure": said, "answer": golden})
        assert (plain.problems, plain.sample["answer"]) == ([], golden)
    nameless = RowReader(load(None, {}, "rows")).read({"question": "Q?", "failure": said, "answer": None})
    assert nameless.problems == ["answer: is blank"]


@pytest.mark.parametrize("said", [None, "", " ", False, "False", 0, "0", "no", "None", "NULL", "nan", "n/a"])
def test_a_row_that_did_not_fail_is_an_answer(tmp_path: Path, said: object) -> None:
    """As tables write it that have a column for errors."""
    assert reader(tmp_path).read({**ROW, "failure": said}) == reader(tmp_path).read(ROW)


@pytest.mark.parametrize("said", [5, 0.5, [], ["x"], {}, {"message": "x"}, {"kind": "judge_error"}, {"kind": []}])
def test_a_failure_is_a_text_or_of_a_kind_that_there_is(tmp_path: Path, said: object) -> None:
    """A judge's failure is none of the agent's."""
    (problem,) = reader(tmp_path).read({**ROW, "failure": said}).problems
    assert problem.startswith("failure: ")
