"""Results of k-eval, as `k-eval run` writes them: NAME_DATE_ID.detailed.jsonl.

A row is a sample under a condition, with all of its repetitions. k-eval sums tokens over repetitions and lists
unverified claims without them, so that neither is known of an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import LIST, NUMBER, OBJECT, GoldenAnswers, Origin, Results, shape, told, tool_call
from keval.origins._files import rows_of

TEXT: JsonObject = {"type": "string"}
METRICS = ("factual_adherence", "completeness", "helpfulness_and_clarity")
"""What its judge scores, each from 1 to 5."""

REPETITION: JsonObject = {"type": "integer", "minimum": 0, "maximum": 9999}
ROW = shape(
    required=("evaluation_name", "sample_idx", "input", "run_details"),
    evaluation_name=TEXT,
    sample_idx=TEXT,
    model_id={"type": ["string", "null"]},
    input={"type": "object", "required": ["raw", "reference"], "properties": {"raw": TEXT, "reference": TEXT}},
    answer_attribution={
        "type": ["array", "null"],
        "items": {"type": "object", "properties": {"duration_ms": NUMBER, "extracted_value": {"type": "string"}}},
    },
    evaluation={
        "type": ["object", "null"],
        "properties": {
            "details": {
                "type": ["object", "null"],
                "properties": {"evaluation_timestamp": NUMBER, **{f"{name}_reasonings": LIST for name in METRICS}},
            }
        },
    },
    token_usage=OBJECT,
    run_details={
        "type": "array",
        "items": {
            "type": "object",
            "required": ["repetition_index", "agent_response", *METRICS],
            "properties": {"repetition_index": REPETITION, "agent_response": TEXT, "duration_ms": NUMBER},
        },
    },
)
"""What is read of a row."""


@dataclass(frozen=True, kw_only=True)
class KEval(Origin):
    """Reads results of k-eval: answers, tool calls, its three scores with their reasoning, cost and time."""

    def fits(self, head: bytes) -> bool:
        """Return whether it begins with an instance of Every Eval Ever that is numbered as only k-eval does it."""
        begins = re.match(rb'\A\s*\{\s*"schema_version"\s*:\s*"instance_level_eval_', head)
        return begins is not None and re.search(rb'"sample_idx"\s*:', head) is not None

    def read(self, path: Path) -> Results:
        """Read a file; one row at a time is in memory."""
        configs: dict[str, None] = {}
        golden, summed, claims, empty = GoldenAnswers(), 0, 0, 0
        for row in rows_of(path, ROW):
            configs[row["evaluation_name"].partition("/")[0]] = None
            golden.take(row["input"]["reference"])
            summed += len(row["run_details"]) > 1
            empty += not row["run_details"]
            claims += bool(_details(row).get("unverified_claims"))
        if not configs:
            raise InputError("no rows in it")
        one_config = len(configs) == 1

        def records() -> Iterator[JsonObject]:
            for row in rows_of(path, ROW):
                yield from _records(row, one_config=one_config, has_golden=golden.are_taken)

        return Results(
            next(iter(configs)) or path.name.partition(".")[0],
            records,
            "k-eval",
            scaled={name: _scale(name) for name in METRICS},
            has_golden_answers=golden.are_taken,
            has_tool_calls=True,
            left_out=[
                *told(Counter({"no repetition is in it": empty} if empty else {})),
                *golden.left_out(),
                *_left_out(summed, claims),
            ],
        )


def _left_out(summed: int, claims: int) -> Iterator[str]:
    if summed:
        yield "tokens are left out: k-eval writes no more than their sum over the repetitions of a sample"
    if claims:
        yield "unverified claims are left out: k-eval does not write which answer made them"


def _scale(name: str) -> JsonObject:
    score, reasoning = {"field": name}, {"field": f"{name}_reasoning"}
    return {"score": score, "reasoning": reasoning, "min": 1, "max": 5, "type": "ordinal"}


def _details(row: JsonObject) -> JsonObject:
    return (row.get("evaluation") or {}).get("details") or {}


def _records(row: JsonObject, *, one_config: bool, has_golden: bool) -> Iterator[JsonObject]:
    """Yield a record for each repetition."""
    _, _, condition = row["evaluation_name"].partition("/")
    details, runs = _details(row), row["run_details"]
    usage = (row.get("token_usage") or {}) if len(runs) == 1 else {}
    for place, run in enumerate(runs):
        yield {
            "id": row["sample_idx"],
            "question": row["input"]["raw"],
            **({"answer": row["input"]["reference"]} if has_golden else {}),
            "text": run["agent_response"],
            "condition": condition if one_config and condition else row["evaluation_name"],
            "repetition": run["repetition_index"] + 1,
            "time": _time(details.get("evaluation_timestamp")),
            "model": row.get("model_id"),
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "cost_usd": run.get("cost_usd"),
            "duration_ms": None if run.get("duration_ms") is None else round(run["duration_ms"]),
            "num_turns": run.get("num_turns"),
            "tool_calls": _calls(row.get("answer_attribution") or [], run["repetition_index"]),
            **{name: run[name] for name in METRICS},
            **{f"{name}_reasoning": _at(details.get(f"{name}_reasonings"), place) for name in METRICS},
        }


def _time(seconds: float | None) -> str | None:
    """Return when the evaluation ended; k-eval writes 0 where it does not know."""
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _at(found: Sequence[Any] | None, place: int) -> str | None:
    value = found[place] if found and place < len(found) else None
    return value if isinstance(value, str) else None


def _calls(steps: Sequence[Mapping[str, Any]], repetition: int) -> list[JsonObject]:
    """Return the tool calls of a repetition; of one that was never answered k-eval writes an empty text."""
    calls = [step for step in steps if step.get("extraction_method") == "tool_call"]
    return [_call(step) for step in calls if step.get("repetition_index") == repetition]


def _call(step: Mapping[str, Any]) -> JsonObject:
    failed, duration = bool(step.get("tool_error")), step.get("duration_ms")
    result = step.get("extracted_value")
    is_unanswered = failed and duration is None and not result
    return tool_call(
        str(step.get("tool_name") or "tool"),
        step.get("tool_input"),
        None if is_unanswered else result,
        failed=failed,
        duration_ms=duration,
    )
