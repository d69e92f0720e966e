"""An MCP server with two tools whose names differ in what a model cannot be told: a dot and an underscore."""

from mcp.server import MCPServer

app = MCPServer("near_names")


@app.tool(name="get.page")
def dotted(query: str) -> str:
    """Get a page by its path."""
    return f"path: {query}"


@app.tool(name="get_page")
def underscored(query: str) -> str:
    """Get a page by its number."""
    return f"number: {query}"


app.run("stdio")
