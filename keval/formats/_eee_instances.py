"""The answers of one condition as Every Eval Ever has them: a row per answer, judge and metric."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject
from keval.passing import SLACK
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.questions import as_text, messages
from keval.reports.model import ConditionSummary

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

METHODS = {True: "llm_judge", False: "custom"}
"""What a score comes from, by whether its judge asks a model."""


def instances(
    connection: DuckDBPyConnection, condition: ConditionSummary, shared: JsonObject, of_models: Mapping[str, bool]
) -> Iterator[JsonObject]:
    """Yield a row per score of an answer, without the result that it belongs to, whose key is that of `result_id`.

    `shared` is what all of them have in common, `of_models` whether a judge, by its id, asks a model.
    """
    ids = {"condition_id": literal(condition.condition_id), "agent_id": literal(condition.agent_id)}
    for row in rows(connection, load("formats", "eee_answers", pass_slack=str(SLACK), **ids)):
        answer = row | {name: orjson.loads(row[name]) for name in ("sample", "scores")}
        known = shared | _answer(answer)
        for score in answer["scores"]:
            extracted = {"extraction_method": METHODS[of_models.get(score["judge_id"], False)], "is_terminal": True}
            (attributed,) = known["answer_attribution"]
            yield known | _scored(score, answer) | {"answer_attribution": [attributed | extracted]}


def result_id(judge_id: str, metric: str) -> str:
    """Return by which key rows belong to the result of a judge and metric."""
    return f"{judge_id}/{metric}"


def _scored(score: JsonObject, answer: Mapping[str, Any]) -> JsonObject:
    calls = None if answer["num_turns"] is None else sum(turn["type"] == "tool_call" for turn in answer["turns"])
    return {
        "evaluation_result_id": result_id(score["judge_id"], score["metric"]),
        "evaluation": {
            "score": score["score"],
            "is_correct": score["score"] >= score["max"] if score["passed"] is None else score["passed"],
            "num_turns": answer["num_turns"] or None,  # the format knows no answer without a turn
            "tool_calls_count": calls,
        },
        "metadata": {
            "condition": answer["condition"],
            "repetition": str(answer["repetition"]),
            "replicate": str(score["replicate"]),
            "judge": score["judge"],
            "judge_id": score["judge_id"],
            "metric": score["metric"],
            "response_id": answer["id"],
            "judgment_id": score["judgment_id"],
            "reasoning": score["reasoning"] or "",
        },
    }


def _answer(answer: Mapping[str, Any]) -> JsonObject:
    """Return what is told of an answer, whoever judged it."""
    sample, usage = answer["sample"], answer["usage"]
    raw, reference = as_text(sample["question"]), str(sample.get("answer") or "")
    is_agentic = any(turn["type"] == "tool_call" for turn in answer["turns"])
    asked = messages(sample["question"])
    single = len(asked) == 1 and not is_agentic
    said = [] if single else _messages(asked, answer)
    return {
        "sample_id": answer["sample_id"],
        "sample_hash": hashlib.sha256(f"{raw}{reference}".encode()).hexdigest(),
        "interaction_type": "single_turn" if single else "agentic" if is_agentic else "multi_turn",
        "input": {"raw": raw, "reference": [reference] if reference else []},
        "output": {"raw": [answer["text"]]} if single else None,
        "messages": None if single else said,
        "answer_attribution": [
            {
                "turn_idx": max(len(said) - 1, 0),
                "source": "output.raw" if single else f"messages[{len(said) - 1}].content",
                "extracted_value": answer["text"],
            }
        ],
        "token_usage": _tokens(usage),
        "performance": None if answer["duration_ms"] is None else {"latency_ms": answer["duration_ms"]},
    }


def _tokens(usage: Mapping[str, int | None] | None) -> JsonObject | None:
    """Return the tokens, or None where one of those that the schema asks for is not known."""
    if usage is None or usage["input_tokens"] is None or usage["output_tokens"] is None:
        return None
    written, read = usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]
    given = usage["input_tokens"] + (written or 0) + (read or 0)
    return {
        "input_tokens": given,
        "output_tokens": usage["output_tokens"],
        "total_tokens": given + usage["output_tokens"],
        "input_tokens_cache_write": written,
        "input_tokens_cache_read": read,
    }


def _messages(asked: Sequence[str], answer: Mapping[str, Any]) -> list[JsonObject]:
    """Return the conversation: the user's messages first, as a log does not say between which turns they came."""
    said: list[JsonObject] = [{"role": "user", "content": text} for text in asked]
    for turn in answer["turns"]:
        said += [{"role": "assistant", "content": turn["text"]}] if turn["type"] == "text" else _call(turn)
    if said[-1]["role"] != "assistant" or said[-1]["content"] != answer["text"]:
        said.append({"role": "assistant", "content": answer["text"]})
    return [{"turn_idx": place} | message for place, message in enumerate(said)]


def _call(turn: Mapping[str, Any]) -> list[JsonObject]:
    given = orjson.loads(turn["input"] or "{}")  # a JSON value of any kind, as the agent gave it
    arguments = {name: _as_text(value) for name, value in given.items()} if isinstance(given, dict) else {}
    call_id = turn["id"] or ""
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "name": turn["name"], "arguments": arguments}],
        },
        {"role": "tool", "content": _as_text(turn["result"]), "tool_call_id": [call_id]},
    ]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
