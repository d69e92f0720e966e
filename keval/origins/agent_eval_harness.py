"""Results of agent-eval-harness, as `capture` and `trials` write them.

The condition is the agent's name. What a grader is hinted at is the golden answer, where every row with an answer has
such a hint. The harness keeps one call of each tool in an answer, without arguments and result: their number is not
known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import (
    NUMBER,
    OBJECT,
    GoldenAnswers,
    Origin,
    Results,
    as_score,
    check,
    failure,
    tool_call,
    without_scale,
)
from keval.origins._files import rows_of

TEXT: JsonObject = {"type": "string"}
NAMED = {"id": TEXT, "input": {"type": ["string", "array"], "items": TEXT}, "hint": {"type": ["string", "null"]}}
STEPS: JsonObject = {
    "type": "array",
    "items": {"type": "object", "properties": {"duration": NUMBER, "name": {"type": ["string", "null"]}}},
}
GRADE: JsonObject = {"pass": {"type": ["boolean", "null"]}, "reasoning": {"type": ["string", "null"]}}

ROW = jsonschema_rs.validator_for({"type": "object", "required": ["id", "input"], "properties": NAMED})

CAPTURED = jsonschema_rs.validator_for({
    "required": ["output", "trajectory"],
    "properties": {
        "output": TEXT, "trajectory": STEPS, "metadata": OBJECT, "errors": {"type": ["array", "null"]},
        "score": {"type": ["object", "null"], "properties": GRADE},
        "timing": {"type": ["object", "null"], "properties": {"start": NUMBER, "total": NUMBER}},
    },
})  # fmt: skip
"""What is read of a row of `capture`."""

TRIED = jsonschema_rs.validator_for({
    "properties": {
        "metadata": OBJECT,
        "trials": {
            "type": "array",
            "items": {
                "type": "object", "required": ["trialNum", "output"],
                "properties": {
                    "trialNum": {"type": "integer", "minimum": 1}, "output": TEXT, "trajectory": STEPS,
                    "duration": NUMBER, **GRADE,
                },
            },
        },
    },
})  # fmt: skip
"""What is read of a row of `trials`."""

PASS: JsonObject = {
    "score": {"field": "pass"}, "reasoning": {"field": "pass_reasoning"},
    "min": 0, "max": 1, "type": "binary", "pass_from": 1,
}  # fmt: skip

OF_THE_HARNESS = {
    "agent", "trajectoryRichness", "turnCount", "workspaceDir", "exitCode", "signal", "timedOut",
    "id", "question", "answer", "hint",
}  # fmt: skip
"""What the harness adds to the metadata of a prompt, and names that a sample has already."""

ERROR = "Error: "
"""How the reasoning of a trial begins whose agent or grader failed: which of them, it does not say."""


@dataclass(frozen=True, kw_only=True)
class AgentEvalHarness(Origin):
    """Reads results of agent-eval-harness: answers, what a grader said of them, tools, time."""

    def fits(self, head: bytes) -> bool:
        """Return whether it begins with a row that has the steps of an answer, or trials."""
        begins = re.match(rb'\A\s*\{\s*"id"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"input"\s*:', head)
        step = rb'"trajectory"\s*:\s*\[\s*(\]|\{\s*"type"\s*:\s*"(thought|message|tool_call|plan)")'
        trials = rb'"trials"\s*:\s*\[\s*\{\s*"trialNum"\s*:'
        return begins is not None and re.search(rb"%s|%s" % (step, trials), head) is not None

    def read(self, path: Path) -> Results:
        """Read a file of either kind; one row at a time is in memory."""
        seen = _Seen()
        for row in _rows(path):
            seen.take(row)
        if not seen.rows:
            raise InputError("no rows in it")
        missing = [f"trials that were asked for and are not in it: {seen.missing:,}"] if seen.missing else []
        unscaled = ["score"] if seen.has_scores and not seen.all_scaled else []
        named = {name: f"metadata_{place}" for place, name in enumerate(seen.metadata)}

        def records() -> Iterator[JsonObject]:
            for row in _rows(path):
                for answer in _answers(row):
                    yield {**_shared(row, named, has_golden=seen.golden.are_taken), **_record(answer)}

        return Results(
            path.name.partition(".")[0],
            records,
            "agent-eval-harness",
            {"score": "score"} if seen.has_scores and seen.all_scaled else {},
            scaled={"pass": PASS} if seen.is_graded else {},
            sample_fields=named,
            has_golden_answers=seen.golden.are_taken,
            has_tool_calls=seen.has_calls,
            left_out=[*missing, *seen.golden.left_out(), *without_scale(unscaled)],
        )


@dataclass
class _Seen:
    """What a file holds as a whole."""

    rows: int = 0
    golden: GoldenAnswers = field(default_factory=GoldenAnswers)
    has_calls: bool = False
    is_graded: bool = False
    has_scores: bool = False
    all_scaled: bool = True
    metadata: dict[str, None] = field(default_factory=dict)
    missing: int = 0
    """Trials that were asked for and are not there."""

    def take(self, row: JsonObject) -> None:
        self.rows += 1
        self.metadata |= dict.fromkeys(name for name in row.get("metadata") or {} if name not in OF_THE_HARNESS)
        if "trials" in row and isinstance(row.get("k"), int):
            self.missing += max(row["k"] - len(row["trials"]), 0)
        for answer in _answers(row):
            self.has_calls = self.has_calls or bool(_calls(answer))
            if answer["failure"] is not None:  # the harness writes no hint of such a row
                continue
            self.golden.take(row.get("hint"))
            self.is_graded = self.is_graded or answer["pass"] is not None
            if answer["score"] is not None:
                self.has_scores = True
                self.all_scaled = self.all_scaled and as_score(answer["score"]) is not None


def _rows(path: Path) -> Iterator[JsonObject]:
    for number, row in enumerate(rows_of(path, ROW), start=1):
        yield check(TRIED if "trials" in row else CAPTURED, row, f"row {number}")


def _answers(row: JsonObject) -> Iterator[JsonObject]:
    """Yield the answers of a row in the same form, be they trials or one that was captured."""
    for trial in row.get("trials") or []:
        why = trial.get("reasoning")
        has_failed = trial.get("score") is None and not trial["output"] and (why or "").startswith(ERROR)
        yield {
            "text": trial["output"], "repetition": trial["trialNum"], "steps": trial.get("trajectory") or [],
            "duration_ms": trial.get("duration"),
            "failure": {"kind": "infra_error", "message": why} if has_failed else None,
            "pass": trial.get("pass"), "score": trial.get("score"), "reasoning": why,
        }  # fmt: skip
    if "trials" not in row:
        score, timing = row.get("score") or {}, row.get("timing") or {}
        is_graded = score.get("pass") is not None or score.get("score") is not None
        yield {
            "text": row["output"], "steps": row["trajectory"], "time": _time(timing.get("start")),
            "duration_ms": timing.get("total"),
            "input_tokens": timing.get("inputTokens"), "output_tokens": timing.get("outputTokens"),
            "failure": None if is_graded else _failure(row),
            "pass": score.get("pass"), "score": score.get("score"), "reasoning": score.get("reasoning"),
        }  # fmt: skip


def _failure(row: JsonObject) -> JsonObject | None:
    """Return why a captured row that nobody graded has no answer; None where it has one."""
    about, errors = row.get("metadata") or {}, "; ".join(map(str, row.get("errors") or []))
    if about.get("timedOut") is True:
        return failure("timeout", errors, "the agent was out of time")
    exit_code = about.get("exitCode")
    if exit_code not in (0, None) and (errors or not row["output"]):
        return failure("agent_error", errors, f"the agent ended with exit code {exit_code}")
    return failure("infra_error", errors, "") if errors else None  # it does not say whose errors these are


def _shared(row: JsonObject, named: Mapping[str, str], *, has_golden: bool) -> JsonObject:
    """Return what a record says of its sample and condition."""
    about = row.get("metadata") or {}
    agent = about.get("agent")
    return {
        "id": row["id"],
        "question": row["input"],
        **({"answer": row.get("hint")} if has_golden else {}),
        "condition": agent if isinstance(agent, str) and agent.strip() else "imported",
        **{place: about.get(name) for name, place in named.items()},
    }


def _record(answer: Mapping[str, Any]) -> JsonObject:
    """Return what a record says of an answer; one that was captured is counted, and says no repetition."""
    duration = answer["duration_ms"]
    return {
        "text": answer["text"],
        "failure": answer["failure"],
        "repetition": answer.get("repetition"),
        "time": answer.get("time"),
        "input_tokens": answer.get("input_tokens"),
        "output_tokens": answer.get("output_tokens"),
        "duration_ms": None if duration is None else round(duration),
        "tool_calls": _calls(answer),
        "pass": answer["pass"],
        "pass_reasoning": answer["reasoning"],
        "score": as_score(answer["score"]),
    }


def _time(milliseconds: float | None) -> str | None:
    if milliseconds is None:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _calls(answer: Mapping[str, Any]) -> list[JsonObject]:
    calls = [step for step in answer["steps"] if step.get("type") == "tool_call"]
    return [_call(step) for step in calls]


def _call(step: Mapping[str, Any]) -> JsonObject:
    output = step.get("output")
    return tool_call(
        step.get("name") or "tool",
        step.get("input"),
        output if isinstance(output, str) else None,
        failed=step.get("status") == "failed",
        duration_ms=step.get("duration"),
    )
