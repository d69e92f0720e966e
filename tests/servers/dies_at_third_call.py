"""An MCP server that is gone in the middle of its third call."""

import itertools
import os

from mcp.server import MCPServer

app = MCPServer("dies_at_third_call")
calls = itertools.count(1)


@app.tool()
def search(query: str) -> str:
    """Search."""
    if next(calls) == 3:
        os._exit(1)
    return query


app.run("stdio")
