"""What is to be done once and what came of it: plain data, which can go to another process and come back.

Deciding makes specs, doing turns a spec into an outcome, recording writes outcomes down. What they
hand each other is here: no functions, no open files, no exceptions, and no value of a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from keval.agents import Answer
from keval.ids import JsonObject
from keval.judges import Case, Judgment
from keval.retry import Failed

Known = TypeVar("Known", Answer, Judgment)
"""What an attempt brings: an agent's answer, or a judge's judgment."""


class AnswerSpec(NamedTuple):
    """One question to the agent under one condition."""

    turns: tuple[str, ...]
    """The user's messages in order."""
    system_prompt: str
    """As written, `${VAR}` included."""
    mcp_servers: Mapping[str, JsonObject]
    """The condition's servers as written, by name."""
    repetition: int
    response_id: str
    """The same question has the same one, wherever and whenever it is asked."""
    timeout_s: float | None = None
    """How long this answer may take, None: as long as any other."""


class JudgeSpec(NamedTuple):
    """One response to one judge."""

    judge_id: str
    case: Case
    seed: str
    """Of what the judge draws at random: the judgment's id, so that the same judgment draws the same."""


class Outcome(NamedTuple, Generic[Known]):
    """What came of one attempt."""

    known: Known
    """What was made; of an attempt that failed, what is known of it: its cost before all."""
    duration_ms: int
    failed: Failed | None = None
    workspace: Path | None = None
    """The attempt's folder; it is there until the executor is told to release it."""
