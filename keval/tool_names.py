"""How the tools of MCP servers are called: `mcp__<server>__<tool>`, apart from a few agents (`mcp_<server>_<tool>`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def tool_part(server: str) -> str:
    """Return a server's name as it stands in the names of its tools, `mcp__<server>__<tool>`."""
    return "".join(
        character if character.isascii() and (character.isalnum() or character in "_-") else "_" for character in server
    )


def server_of(tool: str, servers: Iterable[str]) -> str | None:
    """Return the server whose tool has this name, None if it is no server's; the longest name that fits counts."""
    fitting = [name for name in servers if tool.startswith(f"mcp__{tool_part(name)}__")]
    return max(fitting, key=len, default=None)


def is_tool(call: Mapping[str, Any], name: str) -> bool:
    """Return whether a tool call of a response is of the tool that is named, with its server or without it."""
    called, server = str(call["name"]), call.get("server")
    if called == name:
        return True
    return server is not None and called in {
        f"mcp__{tool_part(server)}__{name}",
        f"mcp_{tool_part(server)}_{name}",
    }
