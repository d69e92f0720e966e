"""Files of other tools that people give as logs."""

from __future__ import annotations

import pytest

from keval.logs.foreign import PEEKED_BYTES, described, instead_of_log, kind


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{\n  "evalId": "eval-x",\n  "results": {"version": 3', "promptfoo"),
        (b'{"evalId":null,"results":{"version":3}}', "promptfoo"),
        (b'{\n  "results": {\n    "version": 3,', "promptfoo"),
        (b'{"results": {"gsm8k": {"exact_match,strict-match": 0.5', "lm-evaluation-harness"),
        (b'{"version":2,"status":"success","eval":{"task":"x"', "Inspect"),
        (b'{"doc_id": 0, "doc": {}, "target": "a", "resps": [["b"]]', "lm-evaluation-harness"),
        (b'{"schema_version": "instance_level_eval_0.2.1", "sample_idx": "0"', "k-eval"),
        (b'{"id":"a","input":"q","output":"b","trajectory":[],"timing":{', "agent-eval-harness"),
        (b'{"id":"a","input":["q"],"k":2,"trials":[{"trialNum":1,', "agent-eval-harness"),
        (b'{"spec": {"completion_fns": ["gpt"], "eval_name": "x"', "OpenAI Evals"),
        (b"PK\x03\x04\x14\x00", "zip"),
        (b"check\nsuDUCK", "index of a log"),
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


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"id":"a","question":"q","answer":"b"}\n', "a dataset: JSON with the keys 'id', 'question', 'answer'"),
        (
            b'[\n  {\n    "question": "a, \\"b\\": {",\n    "x": [{"y": 1}]',
            "a dataset: JSON with the keys 'question', 'x'",
        ),
        (b'[{"input":"q"}]', "a dataset: JSON with the keys 'input'"),
        (b'{"a": {"b": 1}, "c": [1,\n 2]}', "it holds JSON with the keys 'a', 'c'"),
        (b"[1,\n2]", "it holds JSON over several lines; a log has one event in each (jq -c writes it so)"),
        (b"{\n", "it holds JSON over several lines; a log has one event in each (jq -c writes it so)"),
        (b"id,question\n1,2\n", "it holds text"),
        (b"\x00\xff\n", "it holds binary data"),
    ],
)
def test_what_is_no_log_is_described(head: bytes, expected: str) -> None:
    """On one line or on many: its keys tell a dataset from other JSON."""
    assert str(instead_of_log(head)).endswith(expected)


@pytest.mark.parametrize(
    "head", [b'{"v":1,"type":"response"}\n', b'{"ty', b'{"v":1,"id":"q', b'oops\n{"type": "run"}\n']
)
def test_a_log_with_mistakes_stays_a_log(head: bytes) -> None:
    """What is wrong with it is said, not that it is something else."""
    assert instead_of_log(head) is None


def test_what_an_answer_quotes_does_not_count() -> None:
    """An event is an event, whatever stands in it."""
    assert kind(b'{"type":"response","text":"\\"evalId\\": 1, \\"results\\": 2"') is None


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b'{"id":"q1","question":"Why?"}\n{', "JSON with the keys 'id', 'question'"),
        (b'{"a":1,"b":1,"c":1,"d":1,"e":1}', "JSON with the keys 'a', 'b', 'c', 'd', …"),
        (b'{"\\u001b[31m":1}', "JSON with the keys '\\x1b[31m'"),
        (b"[1]", "JSON"),
        (b"API_TOKEN=secret\n", "text"),
        ("ä".encode() * 40_000, "text"),
        (b"x" + "ä".encode() * 40_000, "text"),
        (b"\xff\xfe\xfd\xfc\xfb\xfa", "binary data"),
        (b"PAR1\x00\x00", "binary data"),
    ],
)
def test_a_foreign_file_is_described_without_its_secrets(content: bytes, looks: str) -> None:
    """A message says what kind of file it is, and the names of keys: no values, and nothing that acts on a terminal."""
    assert described(content[:PEEKED_BYTES]) == looks
