"""Valid events for tests, one function per type: call it with what the test is about, the rest is filled in.

Every other field can be given by name. Ids are made from content, as keval makes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import orjson

from keval import ids, projections, schema
from keval.events import encode, event
from keval.ids import JsonObject
from keval.logs.sinks import UntilSafe
from keval.preparation import plan_events
from keval.preparation.tasks import question_id
from keval.projections.views import named_in

RUN_ID = "0123456789abcdef"
TIME = "2026-11-20T11:00:00.123Z"
AGENT = {"name": "echo", "type": "echo", "model": None}
AGENT_ID = ids.agent_id("echo", None, {})
JUDGE = {"name": "rubric", "type": "rubric", "model": "claude-opus-5"}
JUDGE_ID = ids.judge_id("rubric", "claude-opus-5", {})
METRICS = ({"name": "completeness", "min": 1, "max": 5},)
USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": None,
}
ENVIRONMENT = {"keval": "0.1.0", "python": "3.11.0", "platform": "linux"} | dict.fromkeys(
    ("claude_agent_sdk", "claude_code", "anthropic", "git_commit", "git_dirty")
)


def _event(event_type: str, event_id: str, body: JsonObject, fields: Mapping[str, object]) -> JsonObject:
    return in_order({"type": event_type, "v": 1, "id": event_id, "time": TIME, "run_id": RUN_ID, **body, **fields})


@cache
def _fields(event_type: str) -> tuple[str, ...]:
    return tuple(schema.document(event_type)["properties"])


def in_order(event: JsonObject) -> JsonObject:
    """Return an event with its fields in the order of their schema, as keval writes them; unknown ones are last."""
    known = [name for name in _fields(event["type"]) if name in event]
    return {name: event[name] for name in [*known, *event]}


def condition_id(name: str, prompt: str = "Answer.") -> str:
    """Return the id of the condition that all builders mean by a name; another prompt makes another condition."""
    return ids.condition_id(f"{name}: {prompt}", {}, {}, [])


def sample(sample_id: str = "q1", question: str = "Why?") -> JsonObject:
    """Return a sample; another question makes another version of it."""
    return {"id": sample_id, "question": question, "answer": "Because."}


def judge_entry(
    metrics: Sequence[Mapping[str, object]] = METRICS, *, judge_id: str = JUDGE_ID, name: str = "rubric"
) -> JsonObject:
    """Return a judge as a run event lists it."""
    texts: JsonObject = {"parameters": {}, "texts": {}}
    return {**JUDGE, "name": name, "judge_id": judge_id, "replicates": 1, **texts, "metrics": list(metrics)}


def run_event(
    conditions: Sequence[str] | Mapping[str, str] = ("baseline", "with_docs"),
    *,
    samples: int = 2,
    repetitions: int = 1,
    judges: Sequence[JsonObject] | None = None,
    **fields: object,
) -> JsonObject:
    """Return a run of conditions, given as names or as name and prompt; of no conditions it is a run without agent."""
    prompts = conditions if isinstance(conditions, Mapping) else dict.fromkeys(conditions, "Answer.")
    gates = {"require_mcp_tool_use": False, "require_mcp_tool_success": False}
    described = {
        name: {
            "condition_id": condition_id(name, prompt),
            "system_prompt": f"{name}: {prompt}",
            "mcp_servers": [],
            "gates": gates,
            "tools": [],
            "tasks": samples * repetitions,
        }
        for name, prompt in prompts.items()
    }
    body: JsonObject = {
        "command": "generate" if prompts else "judge",
        "config": {"name": "test"} if prompts else None,
        "config_sha256": "c" * 64 if prompts else None,
        "config_name": "test" if prompts else None,
        "dataset": {"path": "questions.jsonl", "sha256": "d" * 64, "samples": samples} if prompts else None,
        "agent": {**AGENT, "agent_id": AGENT_ID, "options": {}, "files": []} if prompts else None,
        "conditions": described or None,
        "judges": [judge_entry()] if judges is None else list(judges),
        "mcp_servers": {},
        "seed": 0,
        "repetitions": repetitions if prompts else None,
        "plan_id": None,
        "environment": ENVIRONMENT,
        "mock": False,
    }
    made = _event("run", "", body, fields)
    made["id"] = fields.get("id") or ids.digest("run", body, fields)
    return made


def response_event(
    sample_id: str = "q1",
    condition: str = "baseline",
    repetition: int = 1,
    *,
    text: str = "Because.",
    question: str = "Why?",
    prompt: str = "Answer.",
    **fields: object,
) -> JsonObject:
    """Return an answer; `question` and `prompt` make another version of the sample and of the condition."""
    asked = sample(sample_id, question)
    known_as = condition_id(condition, prompt)
    agent_id = str(fields.get("agent_id", AGENT_ID))
    body = {
        "sample": asked,
        "sample_sha256": ids.sample_sha256(asked),
        "question_id": question_id(asked),
        "condition": condition,
        "condition_id": known_as,
        "repetition": repetition,
        "agent": AGENT,
        "agent_id": agent_id,
        "status": "answered",
        "text": text,
        "turns": [{"type": "text", "text": text}],
        "mcp": {},
        "sources": [],
        "usage": USAGE,
        "cost_usd": 0.25,
        "duration_ms": 1000,
        "num_turns": 1,
        "attempts": 1,
    }
    identity = ids.response_id(question_id(asked), known_as, agent_id, repetition)
    return _event("response", identity, body, fields)


def judgment_event(
    response: JsonObject, scores: float | Mapping[str, float] = 3.0, *, replicate: int = 1, **fields: object
) -> JsonObject:
    """Return a judgment of a response; one number is the score of the only metric."""
    scored = scores if isinstance(scores, Mapping) else {"completeness": scores}
    judge_id = str(fields.get("judge_id", JUDGE_ID))
    body = {
        **_coordinates(response),
        "judge": JUDGE,
        "judge_id": judge_id,
        "replicate": replicate,
        "sample_fields": ["question", "answer"],
        "sample_sha256": response["sample_sha256"],
        "answer_sha256": ids.answer_sha256(response["text"]),
        "scores": {
            name: {"score": score, "reasoning": "It says so.", "min": 1, "max": 5, "passed": None}
            for name, score in scored.items()
        },
        "unverified_claims": [],
        "outcome": None,
        "usage": USAGE,
        "cost_usd": 0.5,
        "duration_ms": 100,
    }
    given = ids.given_sha256(response["sample"], ["question", "answer"])
    identity = ids.judgment_id(response["id"], response["text"], given, judge_id, replicate)
    return _event("judgment", identity, body, fields)


def unasked_judgment_event(response: JsonObject) -> JsonObject:
    """Return a judgment that nobody was asked for: the judge is not for the sample."""
    judgment = judgment_event(response, cost_usd=0.0, usage=None)
    judgment["scores"]["completeness"] |= {"score": None, "not_applicable": "another topic", "outside": True}
    return judgment


def failure_event(response: JsonObject, kind: str = "timeout", **fields: object) -> JsonObject:
    """Return the failure of the task that would have ended in this response."""
    body = {
        "stage": "generate",
        "kind": kind,
        "message": f"what went wrong: {kind}",
        "sample": response["sample"],
        **_coordinates(response),
        "sample_sha256": response["sample_sha256"],
        "question_id": response["question_id"],
        "attempts": 1,
        "cost_usd": None,
        "turns": [],
    }
    return _event("failure", ids.digest("failure", response["id"], kind), body, fields)


def judge_failure_event(response: JsonObject, kind: str = "judge_error", **fields: object) -> JsonObject:
    """Return the failure of the judge to judge a response."""
    body = {"stage": "judge", "judge": JUDGE, "judge_id": JUDGE_ID, "replicate": 1}
    made = failure_event(response, kind, **body | fields)
    del made["question_id"]
    made["id"] = fields.get("id") or ids.digest("failure", response["id"], made["judge_id"], made["replicate"], kind)
    return made


def plan_event(questions: Sequence[str], *, part: int = 1, parts: int = 1, **fields: object) -> JsonObject:
    """Return a part of a plan of question ids; `plan_id` names the plan, by default that of these questions."""
    body = {"plan_id": plan_events.plan_id(questions), "part": part, "parts": parts, "question_ids": list(questions)}
    return _event("plan", ids.digest("plan part", body | fields), body, fields)


def sample_change_event(changed: Mapping[str, object], *names: str, **fields: object) -> JsonObject:
    """Return the newest record of a sample, of which the fields of these names differ."""
    body = {
        "sample": dict(changed),
        "sample_sha256": ids.sample_sha256(changed),
        "question_id": question_id(changed),
        "changed": list(names),
    }
    return _event("sample_change", ids.digest("sample_change", body), body, fields)


def retraction_event(target: JsonObject, **fields: object) -> JsonObject:
    """Return the retraction of an event."""
    body = {"target": target["id"], "reason": "a mistake", "author": None}
    return _event("retraction", ids.digest("retraction", target["id"]), body, fields)


def small_event(number: int, reason: str = "wrong") -> JsonObject:
    """Return a small event where any will do, made now: the retraction `r<number>` of `t<number>`."""
    return event("retraction", f"r{number}", "run", target=f"t{number}", reason=reason, author=None)


def _coordinates(response: JsonObject) -> JsonObject:
    names = ("condition", "condition_id", "repetition", "agent_id")
    of = {name: response[name] for name in names}
    return {"response_id": response["id"], "sample_id": response["sample"]["id"], **of}


def write_log(path: Path, events: Iterable[JsonObject]) -> Path:
    """Write events as a log and return its path."""
    path.write_bytes(b"".join(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE) for event in events))
    return path


def ask(paths: Path | Sequence[Path], query: str) -> list[JsonObject]:
    """Return the rows of a query over the views of logs."""
    logs = [paths] if isinstance(paths, Path) else paths
    with projections.connect(logs, tools=False, asked=named_in(query)) as connection:
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class Kept:
    """A sink that keeps events and asks each for its schema."""

    def __init__(self) -> None:
        self.events: list[JsonObject] = []

    async def append(self, event: JsonObject) -> None:
        await self.write(encode(event))

    async def write(self, line: bytes) -> UntilSafe:
        event = orjson.loads(line)
        assert schema.event_problem(event) is None
        self.events.append(event)
        return None

    def tell(self, stop: asyncio.Event) -> None:
        """Nothing takes it away."""
