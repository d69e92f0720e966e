"""An MCP server whose tool does what its query says: it reports any error, or is gone.

Without arguments it serves over stdio; else the first is the port, and the second may say `sse`.
"""

import os
import signal
import sys
import threading

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError

app = MCPServer("obeys")
STDOUT = os.dup(1)
"""What the client reads: the SDK puts something else in its place."""


@app.tool()
async def search(query: str) -> str:
    """Do what is asked."""
    what, _, text = query.partition(":")
    match what:
        case "error":
            raise ToolError(text)
        case "protocol":
            code, _, said = text.partition(":")
            raise MCPError(int(code), said)
        case "exit":
            os._exit(int(text))
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "sleep":
            await anyio.sleep(float(text))
        case "noise":
            os.write(STDOUT, b"noise \xff\xfe\n")
        case "later":
            threading.Timer(0.1, os._exit, [0]).start()
    return str(os.getpid())


match sys.argv[1:]:
    case []:
        app.run("stdio")
    case [port]:
        app.run("streamable-http", port=int(port))
    case [port, _]:
        app.run("sse", port=int(port))
