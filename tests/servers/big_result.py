"""An MCP server whose tool returns 5 million characters; over HTTP when given a port, else over stdio."""

import sys

from mcp.server import MCPServer

app = MCPServer("big_result")


@app.tool()
def search(query: str) -> str:
    """Search."""
    return query[:1] * 5_000_000


if len(sys.argv) > 1:
    app.run("streamable-http", port=int(sys.argv[1]))
else:
    app.run("stdio")
