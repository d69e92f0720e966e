"""What all origins share: which scores have a scale, and what is held to a form."""

from __future__ import annotations

from collections import Counter

import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import NUMBER, GoldenAnswers, Results, as_score, check, named_scores, shape, told, tool_call


def test_only_scores_from_0_to_1_have_a_scale() -> None:
    """One score outside of it, or one that is no number, leaves its metric without; a missing one does not."""
    kept, others = named_scores([{"a": 1, "b": 0.5, "c": "good"}, {"a": None, "b": 1.5, "d": None}])
    assert (kept, others) == ({"a": "score_0"}, ["b", "c"])
    assert [as_score(value) for value in (True, 0, 0.25, 1.01, -1, "1", None)] == [
        1.0,
        0.0,
        0.25,
        None,
        None,
        None,
        None,
    ]


def test_a_record_of_another_form_is_told_with_its_place() -> None:
    """Down to the field; fields that are not read may be anything."""
    form = shape(cost=NUMBER)
    assert check(form, {"cost": None, "other": []}, "row 1") == {"cost": None, "other": []}
    with pytest.raises(InputError, match=r"row 2\.cost: "):
        check(form, {"cost": "free"}, "row 2")
    with pytest.raises(InputError, match="row 3: "):
        check(form, [], "row 3")


def test_the_mapping_is_that_of_a_table() -> None:
    """Each metric is read from its field; tools that say nothing of tool calls have no rule for them."""
    mapping = Results("e", lambda: iter(()), "tool", {"pass": "score_0"}, has_golden_answers=False).mapping()
    assert mapping["judges"][0]["metrics"]["pass"]["score"] == {"field": "score_0"}
    assert (mapping["response"], mapping["golden_answers"]) == ({}, False)
    assert "tool_calls" in Results("e", lambda: iter(()), "tool", has_tool_calls=True).mapping()["response"]


def test_more_may_be_known_of_metrics_and_samples() -> None:
    """A scale, a reasoning, and fields of the sample beside question and answer."""
    grade: JsonObject = {"score": {"field": "grade"}, "min": 1, "max": 5, "type": "ordinal"}
    mapping = Results(
        "e", lambda: iter(()), "tool", {"pass": "score_0"}, scaled={"grade": grade}, sample_fields={"level": "level_0"}
    ).mapping()
    assert list(mapping["judges"][0]["metrics"]) == ["grade", "pass"]
    assert (mapping["judges"][0]["metrics"]["grade"], mapping["sample"]) == (grade, {"level": {"field": "level_0"}})


@pytest.mark.parametrize(("name", "server"), [("mcp__shop__find", "shop"), ("search", None), ("mcp__", None)])
def test_the_server_of_a_call_is_known_by_its_name(name: str, server: str | None) -> None:
    """Arguments that are no object are not known."""
    call = tool_call(name, "text", "found")
    assert (call["server"], call["input"], call["result"], call["error"]) == (server, None, "found", False)


def test_what_is_left_out_is_counted() -> None:
    """In the singular and the plural."""
    assert told(Counter({"x": 1, "y": 2})) == ["1 row is left out: x", "2 rows are left out: y"]


@pytest.mark.parametrize(
    ("golden", "are_taken", "left_out"),
    [
        (["a", "b"], True, []),
        ([None, " "], False, []),
        (["a", None, ""], False, ["golden answers are left out: 2 of 3 answers have none"]),
    ],
)
def test_golden_answers_are_taken_of_all_or_none(
    golden: list[str | None], are_taken: bool, left_out: list[str]
) -> None:
    """Where only some are there, it is said."""
    counted = GoldenAnswers()
    for each in golden:
        counted.take(each)
    assert (counted.are_taken, counted.left_out()) == (are_taken, left_out)
