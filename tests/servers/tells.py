"""An MCP server that tells what it was told to keep; over HTTP when given a port, else over stdio.

The variable `TOLD` holds it: for a server over HTTP what its client sends with each request.
"""

import os
import sys

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

app = MCPServer("tells")


@app.tool()
def search(query: str) -> str:
    """Tell it, as a result or as an error."""
    told = f"{query}: {os.environ['TOLD']} {os.environ.get('API_TOKEN')}"
    sys.stderr.write(f"{told}\n")
    if query == "fail":
        raise ToolError(told)
    return told


if len(sys.argv) > 1:
    app.run("streamable-http", port=int(sys.argv[1]))
else:
    app.run("stdio")
