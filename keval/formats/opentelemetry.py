"""OpenTelemetry: one span per answer, with its messages, tokens and scores, as lines of OTLP's JSON.

A collector's `otlpjsonfile` receiver reads the file and passes it on to whatever shows traces. The attributes are
those of the semantic conventions for generative AI: spans `invoke_agent`, whose scores are events
`gen_ai.evaluation.result`. What the conventions have no name for begins with `keval.`.
Source: semantic conventions and OTLP of opentelemetry.io.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from keval.formats import Format, Source
from keval.ids import JsonObject
from keval.passing import SLACK
from keval.plugins import option
from keval.projections import rows
from keval.projections.sql_file import load
from keval.questions import messages

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SPANS_PER_LINE = 100
"""A receiver reads a line whole."""

BYTES_PER_QUERY = 32 * 2**20
"""The texts of lines of so many bytes may be in memory at once, each several times."""

INTERNAL, ERROR = 1, 2
"""As OTLP numbers them: the kind of a span that is no request to another service, and the status of one that failed."""


@dataclass(frozen=True, kw_only=True)
class OpenTelemetry(Format):
    """Writes spans.jsonl: a span per answer and failure of the agent, with messages, tokens, cost and scores."""

    texts: bool = field(
        default=True,
        metadata=option(
            "Write questions, answers, tool calls and the judges' reasoning; false: numbers and names alone."
        ),
    )

    def write(self, source: Source, folder: Path) -> Iterator[Path]:
        """Write the file; of a log without answers it is empty."""
        path = folder / "spans.jsonl"
        resource = {"attributes": _attributes({"service.name": "keval", "service.version": source.version})}
        found = _rows(source.connection)
        with path.open("wb") as file:
            while some := list(islice(found, SPANS_PER_LINE)):
                spans = [self._span(row) for row in some]
                request = {"resource": resource, "scopeSpans": [{"scope": {"name": "keval"}, "spans": spans}]}
                file.write(orjson.dumps({"resourceSpans": [request]}, option=orjson.OPT_APPEND_NEWLINE))
        yield path

    def _span(self, row: JsonObject) -> JsonObject:
        ended = _nanoseconds(row["time"])
        names = hashlib.sha256(row["id"].encode()).hexdigest()
        span = {
            "traceId": names[:32],
            "spanId": names[32:48],
            "name": " ".join(filter(None, ["invoke_agent", row["agent_name"]])),
            "kind": INTERNAL,
            "startTimeUnixNano": str(ended - (row["duration_ms"] or 0) * 1_000_000),
            "endTimeUnixNano": str(ended),
            "attributes": _attributes(_told(row) | (_said(row) if self.texts else {})),
            "events": [self._event(score) for score in orjson.loads(row["scores"])],
        }
        if row["kind"] is not None:
            span["status"] = {"code": ERROR, "message": row["message"] if self.texts else row["kind"]}
        return span

    def _event(self, score: JsonObject) -> JsonObject:
        passed = score["passed"]
        about = {
            "gen_ai.evaluation.name": score["metric"],
            "gen_ai.evaluation.score.value": float(score["score"]),
            "gen_ai.evaluation.score.label": None if passed is None else "pass" if passed else "fail",
            "gen_ai.evaluation.explanation": score["reasoning"] if self.texts else None,
            "keval.judge": score["judge"],
            "keval.judge.id": score["judge_id"],
            "keval.judgment.id": score["judgment_id"],
            "keval.judgment.replicate": score["replicate"],
        }
        return {
            "timeUnixNano": str(_nanoseconds(score["time"])),
            "name": "gen_ai.evaluation.result",
            "attributes": _attributes(about),
        }


def _rows(connection: DuckDBPyConnection) -> Iterator[JsonObject]:
    """Yield what becomes a span, in the order of the log, part by part."""
    for part in rows(connection, load("formats", "span_parts", most=str(BYTES_PER_QUERY))):
        first, last = str(part["first"]), str(part["last"])
        yield from rows(connection, load("formats", "spans", first=first, last=last, pass_slack=str(SLACK)))


def _told(row: JsonObject) -> JsonObject:
    """Return the attributes of a span that hold no text of question or answer."""
    return _used(row["usage"] or {}) | {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": row["agent_name"],
        "gen_ai.agent.id": row["agent_id"],
        "gen_ai.request.model": row["model"],
        "gen_ai.response.model": row["models"][0] if len(row["models"] or ()) == 1 else None,
        "error.type": row["kind"],
        "keval.id": row["id"],
        "keval.run.id": row["run_id"],
        "keval.sample.id": row["sample_id"],
        "keval.condition": row["condition"],
        "keval.condition.id": row["condition_id"],
        "keval.repetition": row["repetition"],
        "keval.status": row["status"],
        "keval.cost_usd": row["cost_usd"],
        "keval.mock": row["mock"],
    }


def _used(usage: Mapping[str, int | None]) -> JsonObject:
    """Return the attributes of tokens; by the conventions those of the input have the cached ones among them."""
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    given = usage.get("input_tokens")
    return {
        "gen_ai.usage.input_tokens": None if given is None else given + (read or 0) + (written or 0),
        "gen_ai.usage.output_tokens": usage.get("output_tokens"),
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
    }


def _said(row: JsonObject) -> JsonObject:
    """Return the attributes of the conversation, as JSON."""
    asked = messages(orjson.loads(row["question"])) if row["question"] is not None else ()
    given = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in asked]
    said = [message for turn in row["turns"] or () for message in _turn(turn)]
    answer = _text(row["text"]) if row["text"] else None
    if answer is not None and (not said or said[-1] != answer):
        said.append(answer)
    return {
        "gen_ai.input.messages": orjson.dumps(given).decode(),
        "gen_ai.output.messages": orjson.dumps(said).decode(),
    }


def _turn(turn: Mapping[str, Any]) -> list[JsonObject]:
    """Return the messages of a turn: a tool call is one of the agent's, its result one of the tool's."""
    if turn["type"] == "text":
        return [_text(turn["text"])]
    arguments = None if turn["input"] is None else orjson.loads(turn["input"])
    call = {"type": "tool_call", "id": turn["id"], "name": turn["name"], "arguments": arguments}
    result = {"type": "tool_call_response", "id": turn["id"], "response": turn["result"]}
    return [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [result]}]


def _text(text: str) -> JsonObject:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


def _attributes(values: Mapping[str, object]) -> list[JsonObject]:
    """Return attributes as OTLP has them, without those that are not known."""
    return [{"key": name, "value": _value(value)} for name, value in values.items() if value is not None]


def _value(value: object) -> JsonObject:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
    return {"stringValue": str(value)}


def _nanoseconds(time: str) -> int:
    """Return a moment, of which a log knows milliseconds, as OTLP counts it."""
    return round(datetime.fromisoformat(time).timestamp() * 1000) * 1_000_000
