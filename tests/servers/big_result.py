"""An MCP server whose tool returns 5 million characters."""

from mcp.server import MCPServer

app = MCPServer("big_result")


@app.tool()
def search(query: str) -> str:
    """Search."""
    return query[:1] * 5_000_000


app.run("stdio")
