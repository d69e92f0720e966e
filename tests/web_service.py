"""A web service on loopback that replies as a test says, and keeps what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """One reply; a status of 0 is none: the connection is closed."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Service:
    """A running service."""

    def __init__(self, reply: Callable[[Asked], Reply]) -> None:
        self.asked: list[Asked] = []
        self.connections: set[object] = set()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = Asked(self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"])))
                service.asked.append(asked)
                service.connections.add(self.client_address)
                said = reply(asked)
                if said.status == 0:
                    self.close_connection = True
                    return
                body = said.body.encode() if isinstance(said.body, str) else said.body
                self.send_response(said.status)
                for name, value in {**said.headers, "content-length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                """Say nothing on stderr."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024  # those of tests that ask much at once

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.url = f"{self.address}/answer"


@contextmanager
def serving(reply: Callable[[Asked], Reply]) -> Iterator[Service]:
    """Serve while the block runs."""
    service = Service(reply)
    thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.server.shutdown()
        thread.join()
        service.server.server_close()
