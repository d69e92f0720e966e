"""A reply as the Messages API sends it: one JSON message, or the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from keval.ids import JsonObject, digest
from keval.mock.stand_in import Reply, input_tokens, tokens

DELTA_CHARACTERS = 80
"""How much text one delta of a stream carries."""


def message(request: JsonObject, reply: Reply, cached: tuple[int, int] = (0, 0)) -> JsonObject:
    """Return the message that answers a request; the same request always gets the same one, but for its usage.

    `cached` says how many of its tokens came from the prompt cache, and how many went into it.
    """
    read, written = cached
    return {
        "id": f"msg_{digest('message', request)}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [reply.block],
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(0, input_tokens(request) - read - written),
            "output_tokens": tokens(reply.block.get("text") or reply.block.get("input")),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        },
    }


def stream(complete: JsonObject) -> list[bytes]:
    """Return the server-sent events that add up to a message."""
    usage = complete["usage"]
    begun = complete | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    ended = {"stop_reason": complete["stop_reason"], "stop_sequence": None}
    return [
        _event("message_start", message=begun),
        _event("ping"),
        *(event for index, block in enumerate(complete["content"]) for event in _block(index, block)),
        _event("message_delta", delta=ended, usage=usage),
        _event("message_stop"),
    ]


def error(kind: str, text: str) -> JsonObject:
    """Return the body of an HTTP error."""
    return {"type": "error", "error": {"type": kind, "message": text}}


def _block(index: int, block: JsonObject) -> Iterator[bytes]:
    if block["type"] == "tool_use":
        field, delta, whole = "partial_json", "input_json_delta", orjson.dumps(block["input"]).decode()
        begun = block | {"input": {}}
    else:
        field, delta, whole = "text", "text_delta", block["text"]
        begun = block | {"text": ""}
    yield _event("content_block_start", index=index, content_block=begun)
    for start in range(0, len(whole), DELTA_CHARACTERS):
        piece = {"type": delta, field: whole[start : start + DELTA_CHARACTERS]}
        yield _event("content_block_delta", index=index, delta=piece)
    yield _event("content_block_stop", index=index)


def _event(name: str, **fields: object) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps({"type": name, **fields}))
