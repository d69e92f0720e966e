"""The machine under a run: processes, their environment, temporary folders, limits, MCP servers."""
