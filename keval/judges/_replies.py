"""Reads the JSON that a judge's model was asked for from what it said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from keval import schema as schemas
from keval.models.messages_api import Reply


class UnusableReplyError(Exception):
    """A reply is not what was asked for; the message says why, in words that can be sent back to the model."""


def read(reply: Reply, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the schema asks for
    """Return the JSON value of a reply. Raises UnusableReplyError unless the reply is whole and fits its schema."""
    _check_whole(reply)
    value = _parsed(reply.text)
    problem = schemas.problem_by(schema, value)
    if problem is not None:
        raise UnusableReplyError(problem)
    return value


def _check_whole(reply: Reply) -> None:
    if reply.stop_reason == "max_tokens":
        raise UnusableReplyError("it was cut off at max_tokens; keep the reasoning short")
    if reply.stop_reason == "refusal":
        raise UnusableReplyError("it was a refusal; the texts are only to be scored")
    if reply.stop_reason not in ("end_turn", "stop_sequence"):
        raise UnusableReplyError(f"it ended early ({reply.stop_reason})")


def _parsed(text: str) -> object:
    """Return the value of a JSON text, in which no key may stand twice and every number is finite."""

    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key occurs twice")
        return found

    def no_number(name: str) -> object:
        raise ValueError(f"{name} is no number")

    try:
        parsed: object = json.loads(text, object_pairs_hook=without_repeats, parse_constant=no_number)
    except (ValueError, RecursionError) as error:  # too long a number is a ValueError, too deep a list a RecursionError
        raise UnusableReplyError(f"it is not one JSON object ({error})") from error
    return parsed
