"""A Messages API that gives scripted replies in order and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                service.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                status, reply = replies.pop(0)
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

            def log_message(self, *_arguments: object) -> None:
                """Say nothing on stderr."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.env = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.server.server_port}",
            "ANTHROPIC_API_KEY": "key",
        }


@contextmanager
def serving(*replies: tuple[int, Mapping[str, Any]]) -> Iterator[Service]:
    """Serve scripted replies while the block runs."""
    service = Service(list(replies))
    thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.server.shutdown()
        thread.join()
        service.server.server_close()


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
