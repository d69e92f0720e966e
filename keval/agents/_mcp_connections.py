"""Connections to MCP servers that are made once and used by many tasks, or by one.

Each is held by a task of its own, from its start to its end: the SDK wants both in one. A connection that is lost is
made anew for whoever asks next; the task that had it fails.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil

from keval.ids import digest
from keval.processes import tree
from keval.processes.mcp_client import STDERR_LINES, all_tools, connected, end_of_stderr, innermost
from keval.secrets.excerpts import last_lines

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp.types import CallToolResult, Tool

PROBE_S = 10.0
"""How long a server may take to list its tools again after a call that broke; one that does not is gone."""


class NotReadyError(Exception):
    """A server could not be connected to."""


class LostError(Exception):
    """A server went away."""


@dataclass(frozen=True, slots=True)
class Called:
    """What came of one call of a tool."""

    result: CallToolResult | None
    error: str | None
    """Why there is no result, although the server is there."""
    duration_ms: int


class Connection:
    """One server, connected until it is closed; `first` says whether none came before it."""

    def __init__(self, server: Mapping[str, Any], env: Mapping[str, str], *, first: bool) -> None:
        self.first = first
        self.tools: Sequence[Tool] = ()
        self.server_name: str | None = None
        self.version: str | None = None
        self.orphaned_processes: list[str] = []
        self._client: Client | None = None
        self._process: psutil.Process | None = None
        """The server, if it is a process of ours."""
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # nobody may ask
        self._lost: str | None = None
        self._probing: asyncio.Task[None] | None = None
        """Whether it still answers, while that is not known: a call of it was broken off."""
        self._leave = asyncio.Event()
        self._task = asyncio.create_task(self._hold(server, env))

    @property
    def lost(self) -> str | None:
        """What became of the connection, once it is no more; told by the server's process or by a call that broke."""
        if self._lost is None and self._process is not None and not tree.is_alive(self._process):
            self._end("its process ended")
        return self._lost

    async def ready(self, timeout_s: float) -> None:
        """Wait until the server has said which tools it has. Raises NotReadyError."""
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.shield(self._ready)
        except TimeoutError:
            self._lost = f"not ready after {timeout_s:g} s"
            raise NotReadyError(self._lost) from None

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Called:
        """Call a tool. Raises LostError when the server is gone; all else that goes wrong is what came of the call."""
        began = time.monotonic()
        if self._client is None or self.lost is not None:
            raise LostError(self.lost)
        try:
            result, error = await self._client.call_tool(tool, dict(arguments)), None
        except asyncio.CancelledError:
            self._doubt()
            raise
        except Exception as broken:  # noqa: BLE001 - a foreign server can break in any way; what counts is if it is there
            result, error = None, innermost(broken)
            await self._probe(error)
        return Called(result, error, round((time.monotonic() - began) * 1000))

    def _doubt(self) -> None:
        """Find out whether a server still answers whose call took longer than its task may.

        One that does one thing at a time would keep every later task waiting for that call.
        """
        if not self._leave.is_set() and (self._probing is None or self._probing.done()):
            self._probing = asyncio.create_task(self._probed())

    async def _probed(self) -> None:
        with suppress(LostError):  # it is told to whoever has the connection, or asks for it next
            await self._probe("its task was over")

    async def settled(self) -> None:
        """Wait until it is known whether the server still answers."""
        if self._probing is not None:
            await asyncio.wait({self._probing})

    async def _probe(self, error: str) -> None:
        """Raise LostError when the server does not even list its tools: it is told by that, not by what it said."""
        if self._client is not None and self.lost is None:
            try:
                async with asyncio.timeout(PROBE_S):
                    await self._client.list_tools(cache_mode="bypass")
            except Exception as broken:  # noqa: BLE001 - a transport may raise anything
                self._end(f"it does not answer any more ({innermost(broken)}) after a call broke ({error})")
        if self.lost is not None:
            raise LostError(self.lost)

    def leave(self) -> None:
        """Begin to close; one that is not ready yet is broken off.

        Once: to be cancelled again would keep the SDK from ending the server, whose end it then waits for.
        """
        if self._client is None and not self._leave.is_set():
            self._task.cancel()
        if self._probing is not None:
            self._probing.cancel()
        self._leave.set()

    @property
    def is_closed(self) -> bool:
        """Whether nothing of it is left."""
        return self._task.done()

    async def closed(self) -> None:
        """Wait until all that belonged to the connection is gone."""
        await self.settled()
        await asyncio.wait({self._task})

    async def _hold(self, server: Mapping[str, Any], env: Mapping[str, str]) -> None:
        token = tree.new_token()
        marked = {**env, tree.TOKEN: token}
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
            try:
                async with connected(server, marked, stderr) as client:
                    self.tools = await all_tools(client)
                    said = client.server_info
                    self.server_name, self.version = (said.name, said.version) if said else (None, None)
                    self._client, self._process = client, _process(token) if server["type"] == "stdio" else None
                    self._ready.set_result(None)
                    await self._leave.wait()
            except Exception as error:  # noqa: BLE001 - a foreign server can fail in any way, and each is its answer
                end = last_lines(end_of_stderr(stderr), STDERR_LINES)
                self._end(f"{innermost(error)}; its stderr ends: {end}" if end else innermost(error))
            finally:
                self._client = None
                if not self._ready.done():  # it was broken off
                    self._ready.set_exception(NotReadyError(self._lost or "the connection was closed"))
                self.orphaned_processes = await tree.to_the_end(tree.end_tree(token))

    def _end(self, how: str) -> None:
        self._lost = self._lost or how
        self._leave.set()


class Connections:
    """The connections of a run, or of a task."""

    def __init__(self) -> None:
        self._current: dict[str, Connection] = {}
        self._all: list[Connection] = []

    async def ready(self, name: str, server: Mapping[str, Any], env: Mapping[str, str], timeout_s: float) -> Connection:
        """Return the connection to a server when it is ready; makes it if there is none. Raises NotReadyError."""
        key = digest("connection", name, dict(server))
        if key in self._current:
            await self._current[key].settled()
        connection = self._current.get(key)
        if connection is None or connection.lost is not None:
            connection = Connection(server, env, first=connection is None)
            self._current[key] = connection
            self._all = [each for each in self._all if not each.is_closed] + [connection]
        try:
            await connection.ready(timeout_s)
        except NotReadyError:
            connection.leave()
            raise
        return connection

    async def close(self) -> tuple[str, ...]:
        """End all connections; return the names of the processes that they left behind, and that were ended too."""
        for connection in self._all:
            connection.leave()
        for connection in self._all:
            await connection.closed()
        left = [name for connection in self._all for name in connection.orphaned_processes]
        self._all.clear()
        self._current.clear()
        return tuple(sorted(left))


def _process(token: str) -> psutil.Process | None:
    """Return the server among the processes that bear its mark: the one that we started."""
    with suppress(psutil.Error, OSError):  # what cannot be looked at is told by its calls
        return next((each for each in tree.of_task(token) if each.ppid() == os.getpid()), None)
    return None
