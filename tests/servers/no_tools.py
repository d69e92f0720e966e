"""An MCP server without a tool."""

from mcp.server import MCPServer

MCPServer("no_tools").run("stdio")
