"""Properties of exported spans: whoever reads OTLP reads them, by the names of the semantic conventions."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes

from keval.formats import opentelemetry
from keval.formats.opentelemetry import OpenTelemetry
from keval.ids import JsonObject
from tests.builders import JUDGE_ID, failure_event, judge_entry, judgment_event, response_event, run_event
from tests.exporting import exported

CALL = {
    "type": "tool_call", "id": "t1", "name": "search", "server": "docs", "input": {"query": "log"},
    "result": "Found.", "error": False, "duration_ms": 7,
}  # fmt: skip
CONVENTIONS = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}


def log() -> list[JsonObject]:
    """Return a log of a judged answer that took a tool, an answer without scores, and a failure."""
    asked = response_event(
        "q1", "A", text="It is a log.", turns=[CALL, {"type": "text", "text": "It is a log."}], models=["m-1"],
        time="2026-01-02T03:04:05.678Z", duration_ms=1500,
    )  # fmt: skip
    plain = response_event("q2", "A", text="No.", usage=None, cost_usd=None, duration_ms=None)
    judge = judge_entry([{"name": "quality", "min": 1, "max": 5, "pass_from": 3}])
    failed = failure_event(response_event("q3", "A"), message="It took too long.")
    return [run_event(["A"], samples=3, judges=[judge]), asked, plain, failed, judgment_event(asked, {"quality": 4.0})]


def requests(path: Path) -> list[ExportTraceServiceRequest]:
    """Return the lines of a file as OTLP's own messages, which refuse a field that they do not know."""
    return [
        json_format.ParseDict(orjson.loads(line), ExportTraceServiceRequest())
        for line in path.read_bytes().splitlines()
    ]


def spans(tmp_path: Path, **options: bool) -> list[Span]:
    """Return the spans of the log."""
    (path,) = exported(OpenTelemetry(**options), log(), tmp_path / "out")
    return [
        span for request in requests(path) for each in request.resource_spans for some in each.scope_spans
        for span in some.spans
    ]  # fmt: skip


def told(attributes: object) -> dict[str, str | int | float | bool]:
    """Return attributes by name."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}  # type: ignore[attr-defined] # a container of protobuf, which has no name


@pytest.mark.slow
def test_a_span_says_what_an_answer_took_and_what_it_scored(tmp_path: Path) -> None:
    """It ends when the answer was recorded, has tokens with the cached ones, messages, and its scores as events."""
    answer = spans(tmp_path)[0]
    assert answer.name == "invoke_agent " + str(told(answer.attributes)["gen_ai.agent.name"])
    assert answer.end_time_unix_nano == 1_767_323_045_678_000_000
    assert answer.end_time_unix_nano - answer.start_time_unix_nano == 1_500_000_000
    about = told(answer.attributes)
    assert (about["keval.condition"], about["keval.sample.id"], about["keval.cost_usd"]) == ("A", "q1", 0.25)
    assert (about["gen_ai.operation.name"], about["gen_ai.response.model"]) == ("invoke_agent", "m-1")
    assert orjson.loads(str(about["gen_ai.input.messages"])) == [
        {"role": "user", "parts": [{"type": "text", "content": "Why?"}]}
    ]
    call, result, text = orjson.loads(str(about["gen_ai.output.messages"]))
    assert call["parts"] == [{"type": "tool_call", "id": "t1", "name": "search", "arguments": {"query": "log"}}]
    assert result == {"role": "tool", "parts": [{"type": "tool_call_response", "id": "t1", "response": "Found."}]}
    assert text == {"role": "assistant", "parts": [{"type": "text", "content": "It is a log."}]}
    (event,) = answer.events
    score = told(event.attributes)
    assert (event.name, score["gen_ai.evaluation.name"]) == ("gen_ai.evaluation.result", "quality")
    assert (score["gen_ai.evaluation.score.value"], score["gen_ai.evaluation.score.label"]) == (4.0, "pass")


@pytest.mark.slow
def test_two_versions_of_a_judge_and_their_replicates_are_told_apart(tmp_path: Path) -> None:
    """A score says by which version of its judge it is, and which of its judgments."""
    answer = response_event("q1", "A")
    given = [(JUDGE_ID, 1), (JUDGE_ID, 2), ("b" * 16, 1)]
    judged = [judgment_event(answer, judge_id=judge_id, replicate=replicate) for judge_id, replicate in given]
    judges = [judge_entry(judge_id=judge_id) for judge_id in (JUDGE_ID, "b" * 16)]
    (path,) = exported(OpenTelemetry(), [run_event(["A"], samples=1, judges=judges), answer, *judged], tmp_path / "out")
    (span,) = orjson.loads(path.read_bytes())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    attributes = [{each["key"]: each["value"] for each in event["attributes"]} for event in span["events"]]
    found = [
        (each["keval.judge.id"]["stringValue"], int(each["keval.judgment.replicate"]["intValue"]))
        for each in attributes
    ]
    assert sorted(found) == sorted(given)


@pytest.mark.slow
def test_what_is_not_known_is_left_out_and_a_failure_is_an_error(tmp_path: Path) -> None:
    """Nothing is filled in for tokens, cost and time that no agent told."""
    _, plain, failed = spans(tmp_path)
    about = told(plain.attributes)
    assert not {"gen_ai.usage.input_tokens", "keval.cost_usd", "error.type"} & set(about)
    assert plain.start_time_unix_nano == plain.end_time_unix_nano
    assert not plain.events
    assert (failed.status.code, failed.status.message) == (2, "It took too long.")
    assert "Why?" in str(told(failed.attributes)["gen_ai.input.messages"])
    assert told(failed.attributes)[error_attributes.ERROR_TYPE] == "timeout"


@pytest.mark.slow
def test_attributes_have_the_names_of_the_conventions(tmp_path: Path) -> None:
    """What is called gen_ai. is known to them; everything else is keval's, or an error's type."""
    for span in spans(tmp_path):
        for name in {*told(span.attributes), *(name for event in span.events for name in told(event.attributes))}:
            assert name in CONVENTIONS or name.startswith("keval.") or name == error_attributes.ERROR_TYPE


@pytest.mark.slow
def test_without_texts_a_span_has_none(tmp_path: Path) -> None:
    """Question, answer, tool call, reasoning and the failure's message stay in the log."""
    for span in spans(tmp_path, texts=False):
        written = str(span)
        assert not [text for text in ("Why?", "log.", "Found", "reason", "took too long") if text in written]


@pytest.mark.slow
def test_ids_are_hexadecimal_and_the_answers_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As OTLP's JSON wants them: 32 and 16 digits, the same in each export; a line has so many spans at most."""
    monkeypatch.setattr(opentelemetry, "SPANS_PER_LINE", 2)
    first = exported(OpenTelemetry(), log(), tmp_path / "a")[0]
    monkeypatch.setattr(opentelemetry, "BYTES_PER_QUERY", 1)
    second = exported(OpenTelemetry(), log(), tmp_path / "b")[0]
    assert first.read_bytes() == second.read_bytes()
    lines = [
        orjson.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"] for line in first.read_bytes().splitlines()
    ]
    assert [len(line) for line in lines] == [2, 1]
    ids = [(span["traceId"], span["spanId"]) for line in lines for span in line]
    assert len(set(ids)) == 3
    assert {(len(trace), len(span)) for trace, span in ids} == {(32, 16)}
    assert all(int(trace, 16) and int(span, 16) for trace, span in ids)
