"""An MCP server that prints what it does to stdout, where only messages of the protocol belong."""

from mcp.server import MCPServer

print("Loading the index ...", flush=True)  # noqa: T201 - this is what it does wrong
server = MCPServer("noisy", version="1.2")


@server.tool()
def look(query: str) -> str:
    """Return the question."""
    return query


server.run()
