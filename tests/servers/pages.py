"""An MCP server over stdio that tells its tools in two pages."""

from __future__ import annotations

import json
import sys

PAGES = {None: ("one", "next"), "next": ("two", None)}


def result(request: dict[str, object]) -> dict[str, object]:
    """Return what is answered to a request."""
    parameters = request.get("params")
    known = parameters if isinstance(parameters, dict) else {}
    if request["method"] == "initialize":
        info = {"name": "pages", "version": "1"}
        return {"protocolVersion": known["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if request["method"] == "tools/list":
        name, cursor = PAGES[known.get("cursor")]
        tool = {"name": name, "description": name, "inputSchema": {"type": "object"}}
        return {"tools": [tool]} | ({"nextCursor": cursor} if cursor else {})
    return {}


for line in sys.stdin:
    told = json.loads(line)
    if "id" in told:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": told["id"], "result": result(told)}) + "\n")
        sys.stdout.flush()
