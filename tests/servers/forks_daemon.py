"""An MCP server that leaves a daemon behind: a session of its own, its parent gone, deaf to SIGTERM.

The file `daemon.pid` in its working folder says which process that is. Over HTTP when given a port, else over stdio.
"""

import os
import signal
import sys
import time
from pathlib import Path

from mcp.server import MCPServer

app = MCPServer("forks_daemon")


def _become_daemon() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    Path("daemon.pid").write_text(str(os.getpid()), encoding="utf-8")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for descriptor in range(3):
        os.close(descriptor)
    time.sleep(600)


@app.tool()
def search(query: str) -> str:
    """Search."""
    return query


child = os.fork()
if child == 0:
    _become_daemon()
    sys.exit()
os.waitpid(child, 0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
if len(sys.argv) > 1:
    app.run("streamable-http", port=int(sys.argv[1]))
else:
    app.run("stdio")
