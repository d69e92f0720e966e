"""HTTP connections for as many requests at once as there are.

The pool of the HTTP library looks at all its connections for each request: with a thousand in flight that is most of
the work. Here each request in flight has a pool of its own, of one connection, which the next one may use again.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import httpx2

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Where no proxy leads."""

KEEP_ALIVE = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
"""A reply may take minutes, in which nothing is sent."""

ONE = httpx2.Limits(max_connections=1, max_keepalive_connections=1)


def mounts() -> dict[str, httpx2.AsyncBaseTransport | None]:
    """Return what an AsyncClient is to send its requests by; proxies of the environment go before it."""
    connections = WebConnections()
    return {"all://": connections, **{f"all://{host}": connections for host in LOOPBACK}}


class WebConnections(httpx2.AsyncBaseTransport):
    """As many connections as are used at once, each made when there is no idle one; to be used by one event loop."""

    def __init__(self) -> None:
        self._certificates = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncHTTPTransport] = []
        self._all: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; its connection is free again when the response is closed."""
        connection = self._idle.pop() if self._idle else self._new()
        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            self._idle.append(connection)
            raise
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            raise TypeError(f"a response that is no asynchronous stream: {type(response.stream).__name__}")
        response.stream = _Stream(response.stream, connection, self._idle)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._all:
            await connection.aclose()
        self._all.clear()
        self._idle.clear()

    def _new(self) -> httpx2.AsyncHTTPTransport:
        connection = httpx2.AsyncHTTPTransport(verify=self._certificates, limits=ONE, socket_options=KEEP_ALIVE)
        self._all.append(connection)
        return connection


class _Stream(httpx2.AsyncByteStream):
    """A response's bytes; gives the connection back when it is closed."""

    def __init__(
        self,
        stream: httpx2.AsyncByteStream,
        connection: httpx2.AsyncHTTPTransport,
        idle: list[httpx2.AsyncHTTPTransport],
    ) -> None:
        self._stream = stream
        self._connection: httpx2.AsyncHTTPTransport | None = connection
        self._idle = idle

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        """Close the response; a second time there is nothing to give back."""
        connection, self._connection = self._connection, None
        try:
            await self._stream.aclose()
        finally:
            if connection is not None:
                self._idle.append(connection)
