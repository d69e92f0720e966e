"""Result files of other tools, made small: what each tool writes, with answers about a shop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from backports.zstd import zipfile

from keval.ids import JsonObject


def promptfoo_row(test: int, provider: str, output: str | None, **fields: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """Return one row as promptfoo writes it."""
    answered: JsonObject = {"output": output, "tokenUsage": {"prompt": 7, "completion": 3, "total": 10}}
    return {
        "testIdx": test, "promptIdx": 0, "vars": {"question": f"q{test % 2}", "style": "short"},
        "provider": {"id": provider, "label": ""},
        "prompt": {"raw": f"Answer: q{test}", "label": "Answer: {{question}}"},
        "response": answered if output is not None else None, "success": output == "yes", "score": 0.75,
        "failureReason": 0 if output is not None else 2, "namedScores": {"words": 12, "tone": 0.5},
        "cost": 0, "latencyMs": 12.4, "testCase": {"assert": [{"type": "equals", "value": "yes"}]}, **fields,
    }  # fmt: skip


def promptfoo_document(rows: list[JsonObject]) -> JsonObject:
    """Return a whole result file."""
    results = {"version": 3, "timestamp": "2026-03-01T12:00:00Z", "prompts": [], "results": rows, "stats": {}}
    return {"evalId": "e", "results": results, "config": {"description": "lamps"}}


def promptfoo_file(folder: Path, rows: list[JsonObject]) -> Path:
    """Write a whole result file."""
    path = folder / "results.json"
    path.write_bytes(orjson.dumps(promptfoo_document(rows)))
    return path


PROMPTFOO_ROWS = [
    promptfoo_row(0, "a", "yes"),
    promptfoo_row(1, "a", "no"),
    promptfoo_row(0, "b", "yes"),
    promptfoo_row(1, "b", None),
]


def lm_eval_answer(document: int, answers: list[str], used: str, score: float) -> JsonObject:
    """Return the row of an answer that a model wrote, for one filter."""
    return {
        "doc_id": document, "doc": {"q": "…"}, "target": "72",
        "arguments": {"gen_args_0": {"arg_0": f"Question {document}", "arg_1": {"until": []}}},
        "resps": [answers], "filtered_resps": ["72"], "filter": used, "metrics": ["exact_match", "bytes"],
        "exact_match": score, "bytes": 120.5,
    }  # fmt: skip


def lm_eval_choice(document: int, target: int, likely: list[float]) -> JsonObject:
    """Return the row of a multiple choice."""
    requests = {
        f"gen_args_{n}": {"arg_0": f"Question {document}", "arg_1": f" {letter}"} for n, letter in enumerate("ABC")
    }
    return {
        "doc_id": document, "target": str(target), "arguments": requests, "filter": "none", "metrics": ["acc"],
        "resps": [[[str(each), "False"]] for each in likely], "acc": float(likely[target] == max(likely)),
    }  # fmt: skip


def lm_eval_file(folder: Path, rows: list[JsonObject]) -> Path:
    """Write a file as the harness names it."""
    path = folder / "my__model" / "samples_gsm8k_2026-03-01T12-00-00.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


INSPECT_HEADER: JsonObject = {
    "version": 2, "status": "success",
    "eval": {"task": "lamps", "model": "mockllm/model", "created": "2026-03-01T12:00:00+00:00"},
}  # fmt: skip
INSPECT_CALLS = [
    {"role": "user", "content": "How long?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "search", "arguments": {"q": "lamp"}}]},
    {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "30 days"}]},
]


def inspect_sample(name: str, epoch: int, grade: object, **fields: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """Return one sample as Inspect writes it."""
    return {
        "id": name, "epoch": epoch, "input": "How long?", "target": "30 days", "messages": INSPECT_CALLS,
        "output": {"model": "mockllm/model", "completion": "30 days."},
        "scores": {"match": {"value": grade}, "length": {"value": 12}}, "total_time": 1.5,
        "model_usage": {"mockllm/model": {"input_tokens": 11, "output_tokens": 4}}, **fields,
    }  # fmt: skip


INSPECT_SAMPLES = [
    inspect_sample("a/b", 1, "C"),
    inspect_sample("a/b", 2, "I"),
    inspect_sample("c", 1, "P"),
    inspect_sample("c", 2, "C", error={"message": "down"}, scores={}),
]


def inspect_json(folder: Path, samples: list[JsonObject]) -> Path:
    """Write a log as JSON."""
    path = folder / "log.json"
    path.write_bytes(orjson.dumps({**INSPECT_HEADER, "samples": samples}))
    return path


def inspect_archive(folder: Path, samples: list[JsonObject]) -> Path:
    """Write a log as an archive, compressed as Inspect does it."""
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_ZSTANDARD) as archive:
        for place, each in enumerate(samples):
            archive.writestr(f"samples/{place}_epoch_{each['epoch']}.json", orjson.dumps(each))
        archive.writestr("header.json", orjson.dumps(INSPECT_HEADER))
    return path


def k_eval_row(sample: int, condition: str, scores: list[int], **fields: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """Return a row as k-eval writes it: a repetition for each score; the last tool call is never answered."""
    calls = [
        {"repetition_index": place, "turn_idx": 1, "source": "mcp_tool", "extraction_method": "tool_call",
         "extracted_value": "30 days" if place < len(scores) - 1 else "", "is_terminal": False,
         "tool_name": "mcp__shop__find", "tool_input": {"q": "lamp"}, "tool_error": place == len(scores) - 1,
         "duration_ms": 12.5 if place < len(scores) - 1 else None}
        for place in range(len(scores))
    ]  # fmt: skip
    words = {"repetition_index": 0, "source": "agent_reasoning", "extraction_method": "text_generation"}
    return {
        "schema_version": "instance_level_eval_0.2.1", "evaluation_id": "e", "model_id": "model",
        "evaluation_name": f"lamps/{condition}", "sample_idx": str(sample), "interaction_type": "agentic",
        "input": {"raw": f"Question {sample}", "reference": "30 days"}, "output": {"raw": "30 days"},
        "answer_attribution": [words, *calls],
        "evaluation": {"score": None, "details": {
            "evaluation_timestamp": 1772366400, "unverified_claims": ["gold"],
            "factual_adherence_reasonings": [f"because {score}" for score in scores],
            "completeness_reasonings": ["all" for _ in scores], "helpfulness_and_clarity_reasonings": [],
        }},
        "token_usage": {"input_tokens": 70, "output_tokens": 30},
        "run_details": [
            {"repetition_index": place, "agent_response": f"{score} days", "cost_usd": 0.5, "duration_ms": 12,
             "num_turns": 2, "factual_adherence": score, "completeness": 3, "helpfulness_and_clarity": 5}
            for place, score in enumerate(scores)
        ],
        **fields,
    }  # fmt: skip


HARNESS_STEPS = [
    {"type": "thought", "content": "…", "timestamp": 1},
    {"type": "tool_call", "name": "search", "status": "failed", "timestamp": 2, "duration": 3},
    {"type": "message", "content": "30 days", "timestamp": 9},
]


def harness_capture(name: str, grade: JsonObject | None, **fields: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """Return a row as `capture` of agent-eval-harness writes it."""
    return {
        "id": name, "input": f"Question {name}", "output": "30 days", "hint": "30", "trajectory": HARNESS_STEPS,
        "metadata": {"category": "returns", "agent": "shop-agent", "turnCount": 1, "exitCode": 0, "timedOut": False},
        "timing": {"start": 1772366400000, "end": 1772366400009, "sessionCreation": 0, "total": 9, "inputTokens": 7},
        "toolErrors": False, **({} if grade is None else {"score": grade}), **fields,
    }  # fmt: skip


def harness_trials(name: str, grades: list[JsonObject], **fields: Any) -> JsonObject:  # noqa: ANN401 - of any type
    """Return a row as `trials` of agent-eval-harness writes it."""
    trials = [
        {"trialNum": place, "output": f"{place} days", "trajectory": HARNESS_STEPS, "duration": 9, **grade}
        for place, grade in enumerate(grades, start=1)
    ]
    return {
        "id": name, "input": ["Hello", f"Question {name}"], "hint": "30", "k": len(trials), "trials": trials,
        "metadata": {"agent": "shop-agent"}, **fields,
    }  # fmt: skip


@dataclass(frozen=True)
class Example:
    """A good file of a tool."""

    name: str
    document: Any
    """The object that it holds, or a list of the objects in its lines."""

    @property
    def content(self) -> bytes:
        """What is in the file."""
        return self._packed(self.document)

    def written(self, path: Path, document: object) -> Path:
        """Write a document in the form of the example."""
        path.write_bytes(self._packed(document))
        return path

    def _packed(self, document: object) -> bytes:
        if isinstance(self.document, list) and isinstance(document, list):
            return b"\n".join(orjson.dumps(each) for each in document)
        return orjson.dumps(document)


EXAMPLES = {
    "agent_eval_harness": Example(
        "captured.jsonl", [harness_capture("a", {"pass": True, "score": 1}), harness_trials("b", [{"pass": False}])]
    ),
    "inspect": Example("lamps.json", {**INSPECT_HEADER, "samples": INSPECT_SAMPLES[::2]}),
    "k_eval": Example("lamps.detailed.jsonl", [k_eval_row(0, "baseline", [2, 4])]),
    "lm_eval": Example(
        "samples_lamps_2026-03-01T12-00-00.jsonl",
        [lm_eval_answer(0, ["a", "b"], "none", 1.0), lm_eval_choice(1, 1, [-3.0, -1.0])],
    ),
    "promptfoo": Example("results.json", promptfoo_document(PROMPTFOO_ROWS[:2])),
}
"""A good file of each tool, by its origin."""
