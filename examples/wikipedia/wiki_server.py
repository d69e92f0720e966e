"""A small encyclopedia as an MCP server: search for pages, and read one.

Its pages are about a country that does not exist, so that no model knows the answers. Put other Markdown files into
`pages`, or another server into the config.
"""

from __future__ import annotations

import re
from pathlib import Path

from mcp.server import MCPServer

PAGES = {
    path.stem.replace("_", " "): path.read_text("utf-8") for path in (Path(__file__).parent / "pages").glob("*.md")
}
"""The text of each page, by its title."""

MOST_FOUND = 3
"""Titles that one search returns."""


def words(text: str) -> set[str]:
    """Return the words of a text that have four letters or more, in lower case."""
    return set(re.findall(r"\w{4,}", text.lower()))


def search(query: str) -> list[str]:
    """Return the titles of the pages that share most words with a query, the best first."""
    asked = words(query)
    shared = {title: 2 * len(asked & words(title)) + len(asked & words(text)) for title, text in PAGES.items()}
    return sorted((title for title in PAGES if shared[title]), key=lambda title: (-shared[title], title))[:MOST_FOUND]


def server() -> MCPServer:
    """Return the MCP server."""
    app = MCPServer("wiki", version="1")

    @app.tool()
    async def wikipedia_search(query: str) -> list[dict[str, str]]:
        """Search the encyclopedia; returns the titles of pages, the best first."""
        return [{"title": title} for title in search(query)]

    @app.tool()
    async def get_page(title: str) -> dict[str, str]:
        """Return the text of the page of this title."""
        found = title.replace("_", " ")
        if found not in PAGES:
            return {"error": f"There is no page {title!r}."}
        return {"title": found, "text": PAGES[found]}

    return app


if __name__ == "__main__":
    server().run("stdio")
