"""Files of other tools that people give as logs."""

from __future__ import annotations

import pytest

from keval.logs.foreign import kind


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{\n  "evalId": "eval-x",\n  "results": {"version": 3', "promptfoo"),
        (b'{"version":2,"status":"success","eval":{"task":"x"', "Inspect"),
        (b'{"doc_id": 0, "doc": {}, "target": "a", "resps": [["b"]]', "lm-evaluation-harness"),
        (b'{"spec": {"completion_fns": ["gpt"], "eval_name": "x"', "OpenAI Evals"),
        (b"PK\x03\x04\x14\x00", "zip"),
    ],
)
def test_a_file_of_another_tool_is_named(head: bytes, expected: str) -> None:
    """What it begins with tells the tool."""
    assert expected in str(kind(head))


@pytest.mark.parametrize(
    "head", [b"", b'{"type":"run","v":1', b'{"v":1,"type":"response"', b'{"question":"evalId results"}']
)
def test_a_log_is_never_taken_for_one(head: bytes) -> None:
    """Nor are a log with its fields in another order, an empty file, and a dataset."""
    assert kind(head) is None


def test_what_an_answer_quotes_does_not_count() -> None:
    """An event is an event, whatever stands in it."""
    assert kind(b'{"type":"response","text":"\\"evalId\\": 1, \\"results\\": 2"') is None
