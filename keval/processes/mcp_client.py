"""Connects to an MCP server, whichever way its config says."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from keval.processes import tree

if TYPE_CHECKING:
    import httpx2
    from mcp.client.client import Client
    from mcp.client.session import IncomingMessage, MessageHandlerFnT
    from mcp.types import Tool

Result = TypeVar("Result")

CONNECT_TIMEOUT_S = 30.0
"""How long a connection over HTTP may take to be made."""

# It would print a traceback for each line that it cannot read; `connected` tells of these.
logging.getLogger("mcp.client.stdio").addHandler(logging.NullHandler())

STDERR_LINES = 5
"""How many of the last lines of stderr are quoted of a server that failed."""

STDERR_BYTES = 64 * 1024
"""How much of the end of stderr is searched for them."""


def _http_client(
    headers: dict[str, Any] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    """Return a client for as many calls at once as there are; each takes its time, which who calls bounds."""
    import httpx2

    from keval.processes import web_connections

    connect_s = timeout.connect if timeout is not None else CONNECT_TIMEOUT_S
    return httpx2.AsyncClient(
        headers=headers,
        timeout=httpx2.Timeout(None, connect=connect_s),
        auth=auth,
        mounts=web_connections.mounts(),
    )


@asynccontextmanager
async def connected(
    server: Mapping[str, Any],
    env: Mapping[str, str],
    stderr: TextIO,
    on_stray: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[Client]:
    """Give a client of a server, which is launchable; a stdio server has `env` and what its own config sets.

    What it writes to its stderr is in the file `stderr`; `on_stray` is told each line of its stdout that is no message
    of the protocol.
    """
    from mcp.client.client import Client
    from mcp.client.sse import sse_client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        if server["type"] == "stdio":
            parameters = StdioServerParameters(
                command=server["command"],
                args=server["args"],
                env={**env, **server["env"]},
                # Bytes that are no UTF-8 would end the SDK's reading, and each call would wait for its task's end.
                encoding_error_handler="replace",
            )
            transport = stdio_client(parameters, errlog=stderr)
        elif server["type"] == "sse":
            headers = server.get("headers")
            transport = sse_client(server["url"], headers, sse_read_timeout=inf, httpx_client_factory=_http_client)
        else:
            http = await stack.enter_async_context(_http_client(server.get("headers")))
            transport = streamable_http_client(server["url"], http_client=http)
        yield await stack.enter_async_context(Client(transport, message_handler=_telling(on_stray)))


def _telling(on_stray: Callable[[str], None]) -> MessageHandlerFnT:
    """Return what a client calls for all that is no reply: also for lines that it cannot read, as errors."""

    async def handle(message: IncomingMessage) -> None:
        from pydantic import ValidationError

        if isinstance(message, ValidationError):
            given = message.errors()[0]["input"]
            on_stray(given if isinstance(given, str) else str(given))

    return handle


async def within(timeout_s: float, asking: Coroutine[Any, Any, Result]) -> Result:
    """Await what asks a server that it is connected to, and its end. Raises TimeoutError when it takes too long.

    It is cancelled once at most, whoever cancels the caller meanwhile: the second time would break off the SDK's
    clean-up, which then waits until the server ends by itself.
    """
    task = asyncio.create_task(asking)
    try:
        await asyncio.wait({task}, timeout=timeout_s)
    finally:
        in_time = task.done() or not task.cancel()
        await tree.to_the_end(asyncio.wait({task}))
    if in_time:
        return task.result()
    if not task.cancelled():
        task.exception()  # of the clean-up, which nobody needs to know
    raise TimeoutError


async def all_tools(client: Client) -> list[Tool]:
    """Return the tools of all pages of a server's list."""
    page = await client.list_tools()
    tools = list(page.tools)
    while page.next_cursor is not None:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools


def end_of_stderr(stderr: TextIO) -> str:
    """Return the end of what a server wrote to a file, as it is: it may hold secrets."""
    stderr.seek(0, 2)
    stderr.seek(max(0, stderr.tell() - STDERR_BYTES))
    return stderr.read().strip()


def innermost(error: BaseException) -> str:
    """Return what went wrong in the end, where a library wraps it in groups."""
    from pydantic import ValidationError

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        # It would quote what was given with its middle cut out: no secret is found in that any more.
        told = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_input=False))
        return f"{type(error).__name__}: {'; '.join(told)}"
    return f"{type(error).__name__}: {error}".removesuffix(": ")
