from __future__ import annotations

from keval.tool_names import is_tool, server_of, tool_part


def test_a_tool_belongs_to_the_server_with_the_longest_name_that_fits() -> None:
    """A server may be called like the beginning of another one, and have characters that no tool's name has."""
    servers = ("docs", "docs__old", "my docs")
    assert server_of("mcp__docs__search", servers) == "docs"
    assert server_of("mcp__docs__old__search", servers) == "docs__old"
    assert server_of("mcp__my_docs__search", servers) == "my docs"
    assert server_of("Bash", servers) is None
    assert tool_part("ä b") == "__b"


def test_a_tool_is_named_with_its_server_or_without_it() -> None:
    """Its own name may have underscores, and a built-in tool belongs to no server."""
    called = {"name": "mcp__my_docs__get__page", "server": "my docs"}
    assert is_tool(called, "get__page")
    assert is_tool(called, "mcp__my_docs__get__page")
    assert not is_tool(called, "page")
    assert is_tool({"name": "mcp_docs_search", "server": "docs"}, "search")
    assert not is_tool({"name": "get__page", "server": None}, "page")
