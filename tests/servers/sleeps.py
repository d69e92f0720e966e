"""An MCP server that takes its time, as many seconds as its argument says, and then serves."""

import sys
import time

from mcp.server import MCPServer

time.sleep(float(sys.argv[1]))
app = MCPServer("sleeps")


@app.tool()
def search(query: str) -> str:
    """Search."""
    return query


app.run("stdio")
