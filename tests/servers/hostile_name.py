"""An MCP server that calls itself, its version and its tool what no terminal should be shown."""

from mcp.server import MCPServer

HOSTILE = "a\x1b[31m\r\x9b2J\u202e\u2028\x07\nFORGED fake: connected"

app = MCPServer(HOSTILE, version=HOSTILE)


@app.tool(name=f"search{HOSTILE}")
def search(query: str) -> str:
    """Search the docs."""
    return f"found: {query}"


app.run("stdio")
