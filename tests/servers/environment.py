"""An MCP server that tells its own environment and session, and the command lines of all its task's processes."""

import json
import os

import psutil
from mcp.server import MCPServer

app = MCPServer("environment")


def _command_lines() -> list[list[str]]:
    lines = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("KEVAL_TASK") == os.environ["KEVAL_TASK"]:
                lines.append(process.cmdline())
        except psutil.Error:
            continue
    return lines


@app.tool()
def search(query: str) -> str:
    """Search, in a manner of speaking."""
    told = {"environment": dict(os.environ), "session": os.getsid(0), "command_lines": _command_lines()}
    return json.dumps({"query": query, **told})


app.run("stdio")
