"""Whether the MCP servers of a task are still there at its end.

What counts is a server's process, or its connection as the CLI reports it; never what a call brought
back. A tool may say anything, also what the CLI says of a lost connection, and the two look alike.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from keval.agents._claude_launch import Launch, is_stdio
from keval.processes import tree

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient
    from claude_agent_sdk.types import McpServerStatus

    from keval.agents._claude_record import Record

STATUS_S = 10.0
"""How long the CLI may take to say what became of the MCP servers, or to connect to one again."""

LOOKS = 2
"""How often the CLI is asked what became of them."""


class Watch:
    """The servers of a task, from the moment on at which all of them are ready."""

    def __init__(self, client: ClaudeSDKClient, launch: Launch, record: Record) -> None:
        self._client = client
        self._launch = launch
        self._record = record
        self._started = launch.started()
        self._running = {name: tree.running(pids[-1]) for name, pids in self._started.items()}

    async def look(self) -> None:
        """Tell the record which servers went away. The CLI must still be there: it ends servers when it ends."""
        for name, pids in self._launch.started().items():
            if pids != self._started[name]:
                self._record.lose(name, "its process ended, and was started again")
            elif (running := self._running[name]) is None or not tree.is_alive(running):
                self._record.lose(name, "its process ended")
        if self._launch.prompt.mcp_servers:
            await self._update()
        for name in self._doubtful():
            # The CLI notices a lost connection late, or never. One that it makes anew says whether anybody is there.
            with suppress(Exception):  # what became of it is in the status
                async with asyncio.timeout(STATUS_S):
                    await self._client.reconnect_mcp_server(name)
            await self._update()

    def _doubtful(self) -> list[str]:
        """Return the servers that are no process of ours, are called connected, and failed a call."""
        return [
            name
            for name, server in self._launch.prompt.mcp_servers.items()
            if not is_stdio(server)
            and self._record.statuses[name]["status"] == "connected"
            and self._record.has_failed_call(name)
        ]

    async def _update(self) -> None:
        """Ask what became of the servers, twice if need be; raises AgentError where the CLI does not say.

        The agent has answered by then: that nobody can be asked is the fault of a busy machine, not of the answer.
        """
        for _ in range(LOOKS):
            try:
                async with asyncio.timeout(STATUS_S):
                    self._record.statuses.update(await statuses(self._client))
            except Exception as error:  # noqa: BLE001 - foreign code: some of what the SDK raises is a bare Exception
                failed = error
            else:
                return
        said = str(failed) or type(failed).__name__
        told = f"the agent has ended, but Claude Code does not say what became of the MCP servers: {said}"
        raise self._record.failure("infra_error", told, retryable=True) from failed


async def statuses(client: ClaudeSDKClient) -> dict[str, McpServerStatus]:
    """Return what the CLI says of each MCP server."""
    return {status["name"]: status for status in (await client.get_mcp_status())["mcpServers"]}
