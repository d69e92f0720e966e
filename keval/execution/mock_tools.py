"""Tells the mock before a mock run what MCP servers say of their tools: no request to the Messages API holds it."""

from __future__ import annotations

from collections.abc import Iterable

from keval.ids import JsonObject
from keval.processes.servers import ServerInfo
from keval.tool_names import tool_part


async def tell_tools(mock_url: str, servers: Iterable[ServerInfo]) -> None:
    """Tell the mock at an address which tools of the servers change nothing, and which destroy something."""
    said = marks(servers)
    if not said:
        return
    import httpx2

    async with httpx2.AsyncClient() as client:
        told = await client.put(f"{mock_url}/tools", json=said)
        told.raise_for_status()


def marks(servers: Iterable[ServerInfo]) -> JsonObject:
    """Return what servers say of their tools, by the names by which agents call them."""
    return {
        f"mcp__{tool_part(server.name)}__{tool}": {
            "read_only": tool in server.read_only,
            "destructive": tool in server.destructive,
        }
        for server in servers
        for tool in {*server.read_only, *server.destructive}
    }
