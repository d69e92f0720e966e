"""GitHub-flavoured Markdown, for pull requests and wikis.

Everything that comes out of the log is escaped by character references: these never act as
markup, and they survive in table cells, where a backslash before a pipe does not always.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.exports import Export
from keval.exports._blocks import Cell, Fitted, Lines, Quote, Section, Table
from keval.exports._layout import sections, title
from keval.printable import printable
from keval.reports.model import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ACTIVE = re.compile(
    r"""[&<>|`*\\~#@]                              # markup, HTML, mentions
    | \[(?![+−-]?[0-9]) | \](?=[\[(:])              # links; an interval is none
    | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9])        # inside a word an underscore is only an underscore
    | \$(?![0-9])                                 # formulas; an amount of money is none
    | (?<=http):(?=//) | (?<=https):(?=//) | (?<=ftp):(?=//) | (?<=www)\.     # what GitHub makes a link of
    | ^[-+=](?=[-+=\s]|$) | ^[0-9]+(?=[.)](?:\s|$))    # lists and rules
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What would be more than text; see the GitHub Flavored Markdown Spec."""


@dataclass(frozen=True, kw_only=True)
class Markdown(Export):
    """Writes a report as GitHub-flavoured Markdown."""

    def render(self, report: Report) -> bytes:
        """Return the report as UTF-8 Markdown."""
        return self.draw(title(report.header), sections(report), report.banner)

    def draw(self, heading: str, found: Sequence[Section], banner: str | None = None) -> bytes:
        """Return sections under a heading as UTF-8 Markdown."""
        blocks = [f"> **{escaped(banner)}**"] if banner else []
        blocks.append(f"# {escaped(heading)}")
        for section in found:
            blocks += [f"## {escaped(section.title)}", *drawn(section)]
        return ("\n\n".join(blocks) + "\n").encode()

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a report in Markdown: with its title, below what a mock run says first."""
        return re.match(rb"(> \*\*MOCK: [^\n]*\n\n)?# keval report[:\n]", head) is not None


def drawn(section: Section) -> Iterator[str]:
    """Yield the blocks of a section as Markdown, without its title."""
    for block in section.blocks:
        if isinstance(block, Lines) or block.rows:
            yield "\n".join(_drawn(block))


def _drawn(block: Table | Lines) -> Iterator[str]:
    if isinstance(block, Lines):
        for line in block.lines:
            yield "- " + "".join(_cell(part) for part in line)
        return
    columns = block.columns or ("",) * len(block.rows[0])
    yield _row(columns)
    yield "| --- |" + (" ---: |" if block.by_condition else " --- |") * (len(columns) - 1)
    for row in block.rows:
        yield _row(row)


def _row(cells: Sequence[Cell]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Quote):
        return f"<code>{escaped(cell.text)}</code>"
    return escaped(cell.wide if isinstance(cell, Fitted) else cell)


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _ACTIVE.sub(lambda found: "".join(f"&#{ord(character)};" for character in found[0]), printable(text))
