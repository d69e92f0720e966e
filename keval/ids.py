"""Canonical JSON and the identities derived from it.

Identities are content, and each holds just what its maker is given: the same question, condition,
agent and repetition always get the same id, so that the same command again does only what is
missing. What the agent can see and was edited is new work; what it cannot see costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

JsonObject = dict[str, Any]
"""A JSON object as orjson reads and writes it."""

HEX_DIGITS = 24
"""Length of an id: 96 bits, so that a billion ids collide with a chance below one in 10**10."""


def canonical(value: object) -> bytes:
    """Return the canonical JSON of a value: sorted keys, no spaces, UTF-8."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(*parts: object) -> str:
    """Return the hash of the parts' canonical JSON as `HEX_DIGITS` hex digits."""
    return hashlib.sha256(canonical(parts)).hexdigest()[:HEX_DIGITS]


def sample_sha256(sample: Mapping[str, object]) -> str:
    """Return the hash of a sample's whole content: any edited field makes it another record."""
    return digest("sample", sample)


def changed_fields(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return the names of the fields that make a sample another record, in the order of the newer one."""
    names = dict.fromkeys([*now, *before])
    # As JSON: to Python true is 1, and 1.0 is 1.
    return [
        name
        for name in names
        if name not in before or name not in now or canonical(before[name]) != canonical(now[name])
    ]


def question_id(sample_id: str, turns: Sequence[str]) -> str:
    """Return the identity of what the agent is given of a sample; `turns` are the user's messages in order."""
    return digest("question", sample_id, list(turns))


def given_sha256(sample: Mapping[str, object], fields: Sequence[str] | None) -> str:
    """Return the hash of what a judge is given of a sample: these fields, as far as it has them; None means all."""
    return digest("given", sample if fields is None else {name: sample[name] for name in fields if name in sample})


def condition_id(
    system_prompt: str,
    mcp_servers: Mapping[str, object],
    gates: Mapping[str, object],
    tools: Sequence[str],
) -> str:
    """Return the identity of a condition: its content, never its name.

    `mcp_servers` holds of each server its config as written and what it turned out to be.
    """
    return digest("condition", system_prompt, mcp_servers, gates, list(tools))


def imported_condition_id(name: str) -> str:
    """Return the identity of a condition of which nothing but its name is known."""
    return digest("imported condition", name)


def agent_id(agent_type: str, model: str | None, options: Mapping[str, object], files: Sequence[str] = ()) -> str:
    """Return the identity of an agent; `files` are the hashes of the local files that its command names."""
    return digest("agent", agent_type, model, options, list(files))


def judge_id(judge_type: str, model: str | None, parameters: Mapping[str, object]) -> str:
    """Return the identity of a judge; `parameters` holds its options, rubric and prompt texts."""
    return digest("judge", judge_type, model, parameters)


def response_id(question: str, condition: str, agent: str, repetition: int) -> str:
    """Return the id of a task's response, known before the agent is asked."""
    return digest("response", question, condition, agent, repetition)


def answer_sha256(text: str) -> str:
    """Return the SHA-256 of an answer's text as hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def judgment_id(  # noqa: PLR0913 - what a judge is given, each part by name
    response: str, text: str, given: str, judge: str, replicate: int, *, other: str | None = None
) -> str:
    """Return the id of a judgment, known before the judge is asked.

    `text` is the answer's text, `given` the hash of what the judge is given of the sample. `other` is
    the response that a judge of pairs compares it with.
    """
    return digest(
        "judgment", response, answer_sha256(text), given, judge, replicate, *([] if other is None else [other])
    )
