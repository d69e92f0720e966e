"""Canonical JSON and the identities derived from it.

Identities are content: the same question, condition, agent and repetition always get the same
id, so that the same command again does only what is missing, and anything edited is new work.
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
    """Return the identity of a sample's whole content: any edited field makes it another sample."""
    return digest("sample", sample)


def condition_id(
    system_prompt: str,
    mcp_servers: Mapping[str, object],
    gates: Mapping[str, object],
    tools: Sequence[str],
) -> str:
    """Return the identity of a condition: its content as written, never its name."""
    return digest("condition", system_prompt, mcp_servers, gates, list(tools))


def agent_id(agent_type: str, model: str | None, options: Mapping[str, object]) -> str:
    """Return the identity of an agent."""
    return digest("agent", agent_type, model, options)


def judge_id(judge_type: str, model: str | None, parameters: Mapping[str, object]) -> str:
    """Return the identity of a judge; `parameters` holds its options, rubric and prompt texts."""
    return digest("judge", judge_type, model, parameters)


def response_id(sample_hash: str, condition: str, agent: str, repetition: int) -> str:
    """Return the id of a task's response, known before the agent is asked."""
    return digest("response", sample_hash, condition, agent, repetition)


def judgment_id(response: str, text: str, judge: str, replicate: int, other: str | None = None) -> str:
    """Return the id of a judgment, known before the judge is asked; `text` is the answer's text.

    `other` is the second answer of a pair: what identifies it and its text.
    """
    answer = hashlib.sha256(text.encode()).hexdigest()
    return digest("judgment", response, answer, judge, replicate, *(() if other is None else (other,)))
