"""Reads the JSON that a judge's model was asked for from what it said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keval import schema as schemas
from keval.documents import strict_json
from keval.models.messages_api import Reply


class UnusableReplyError(Exception):
    """A reply is not what was asked for; the message says why, in words that can be sent back to the model."""


def read(reply: Reply, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the schema asks for
    """Return the JSON value of a reply. Raises UnusableReplyError unless the reply is whole and fits its schema."""
    _check_whole(reply)
    try:
        value = strict_json.parse(reply.text.encode())
    except (strict_json.NotStrictError, UnicodeEncodeError) as error:
        raise UnusableReplyError(f"it is not one JSON object ({error})") from error
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
