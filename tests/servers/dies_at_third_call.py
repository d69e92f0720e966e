"""An MCP server that is gone in the middle of its third call; over HTTP when given a port, else over stdio."""

import itertools
import os
import sys

from mcp.server import MCPServer

app = MCPServer("dies_at_third_call")
calls = itertools.count(1)


@app.tool()
def search(query: str) -> str:
    """Search."""
    if next(calls) == 3:
        os._exit(1)
    return query


if len(sys.argv) > 1:
    app.run("streamable-http", port=int(sys.argv[1]))
else:
    app.run("stdio")
