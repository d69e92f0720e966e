"""A Messages API that gives scripted replies in order and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests import web_service
from tests.web_service import Asked, Reply

USAGE = {
    "input_tokens": 1000,
    "output_tokens": 100,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}
COST_USD = 0.0075
"""Of one such reply by claude-opus-5."""

OVERLOADED = (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


class Service:
    """A running service."""

    def __init__(self, replies: list[tuple[int, Mapping[str, Any]]]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.at_once = len(replies)
        """So many are replied to at once; all others wait for `go`."""
        self.go = threading.Event()
        self.env = {"ANTHROPIC_API_KEY": "key"}
        self._replies = replies

    def reply(self, asked: Asked) -> Reply:
        """Give the next reply."""
        self.asked.append(json.loads(asked.body))
        if len(self.asked) > self.at_once:
            self.go.wait()
        status, said = self._replies.pop(0)
        return Reply(json.dumps(said), status, {"content-type": "application/json"})


@contextmanager
def serving(*replies: tuple[int, Mapping[str, Any]]) -> Iterator[Service]:
    """Serve scripted replies while the block runs."""
    service = Service(list(replies))
    with web_service.serving(service.reply) as web:
        service.env["ANTHROPIC_BASE_URL"] = web.address
        try:
            yield service
        finally:
            service.go.set()


def message(text: str, **fields: object) -> tuple[int, dict[str, Any]]:
    """Return a message with this text as the service sends it."""
    return 200, {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    } | fields
