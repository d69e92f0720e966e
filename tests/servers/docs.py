"""An MCP server with a search tool; over HTTP when given a port, else over stdio."""

import sys

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

app = MCPServer("docs", version="1.0")


@app.tool()
def search(query: str) -> str:
    """Search the docs."""
    if query == "fail":
        raise ToolError("Connection closed")
    return f"found: {query}"


@app.tool()
def pages(query: str) -> list[str]:
    """List pages."""
    return [query, "another"]


if len(sys.argv) > 1:
    app.run("streamable-http", port=int(sys.argv[1]))
else:
    app.run("stdio")
