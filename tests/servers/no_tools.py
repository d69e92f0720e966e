"""An MCP server without a tool; over HTTP when given a port, else over stdio."""

import sys

from mcp.server import MCPServer

app = MCPServer("no_tools")
if len(sys.argv) > 1:
    app.run("streamable-http", port=int(sys.argv[1]))
else:
    app.run("stdio")
