"""An MCP server that answers once and is gone soon after; the file `server.pid` says which process that is."""

import os
import threading
from pathlib import Path

from mcp.server import MCPServer

app = MCPServer("dies_after_first_call")


@app.tool()
def search(query: str) -> str:
    """Search."""
    Path("server.pid").write_text(str(os.getpid()), encoding="utf-8")
    threading.Timer(0.2, os._exit, [1]).start()
    return query


app.run("stdio")
