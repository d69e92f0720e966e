"""A documentation search as an MCP server: what the condition `with_docs` gives to the agent.

    python docs_server.py [FOLDER]

It reads the Markdown files of FOLDER (default: `handbook`, beside this file), indexes their sections
in memory, and offers one tool, `search_docs`, over stdin and stdout. Put another folder in its place
and the example asks whether *your* docs help *your* agent.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from mcp.server import MCPServer

HANDBOOK = Path(__file__).parent / "handbook"

MOST_SECTIONS = 4
"""Sections that one search returns: enough to answer from, little enough to read."""

SEARCH = """
SELECT page, heading, text FROM section WHERE section MATCH ?
ORDER BY bm25(section, 0, 4, 1), rowid LIMIT ?
"""
"""The best sections first; a word in a heading weighs as much as four in the text."""

Section = tuple[str, str, str]
"""Page, heading and text of one section."""


def sections(page: str, markdown: str) -> Iterator[Section]:
    """Yield the sections of a page that say something; each begins at a heading outside of code."""
    heading, lines, in_code = page, list[str](), False
    for line in markdown.splitlines():
        in_code ^= line.startswith("```")
        if re.match(r"#{1,6} ", line) and not in_code:
            yield page, heading, "\n".join(lines).strip()
            heading, lines = line.lstrip("# "), []
        else:
            lines.append(line)
    yield page, heading, "\n".join(lines).strip()


class Index:
    """A full-text index over the sections of a folder's Markdown files."""

    def __init__(self, folder: Path) -> None:
        pages = sorted(folder.rglob("*.md"))
        if not pages:
            raise SystemExit(f"{folder}: no Markdown files to search")
        found = [
            section
            for page in pages
            for section in sections(page.relative_to(folder).as_posix(), page.read_text(encoding="utf-8"))
            if section[2]
        ]
        self.version = hashlib.sha256(repr(found).encode()).hexdigest()[:12]
        """Hash of what is indexed: two runs over different texts can be told apart in the log."""
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE section USING fts5(page, heading, text, tokenize = 'porter')")
        self._database.executemany("INSERT INTO section VALUES (?, ?, ?)", found)

    def search(self, query: str) -> str:
        """Return the sections that fit the words of a query best, as Markdown."""
        # Each word is quoted: no word of a question is an operator of the query language.
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        rows = self._database.execute(SEARCH, (words or '""', MOST_SECTIONS))
        found = [f"## {heading} ({page})\n\n{text}" for page, heading, text in rows]
        return "\n\n".join(found) or "No section has any of these words."


def server(index: Index) -> MCPServer:
    """Return the MCP server over an index."""
    app = MCPServer("docs", version=index.version)

    @app.tool()
    async def search_docs(query: str) -> str:
        """Search keval's documentation; returns the sections that fit the query best."""
        return index.search(query)

    return app


if __name__ == "__main__":
    server(Index(Path(sys.argv[1]) if sys.argv[1:] else HANDBOOK)).run("stdio")
