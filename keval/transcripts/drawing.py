"""Draws transcripts as text and as Markdown, in which no text from outside acts on anything."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from keval.printable import printable, printable_lines
from keval.transcripts.sections import about, sections, title
from keval.transcripts.transcript import Transcript

FIRST_CHARACTERS, LAST_CHARACTERS = 4_000, 1_000
"""Of a longer text so much is shown from its beginning and from its end."""

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Drawing:
    """How transcripts are drawn."""

    markdown: bool = False
    full: bool = False
    """Whether long texts are shown to their end."""
    width: int | None = None
    """Columns of the terminal, at which lines of text are broken; None breaks none."""
    bold: bool = False

    def draw(self, transcript: Transcript) -> str:
        """Return one task as text that ends with a blank line."""
        return self._as_markdown(transcript) if self.markdown else self._as_text(transcript)

    def _as_text(self, transcript: Transcript) -> str:
        parts = [f"{self._heading(printable(title(transcript)))}\n{printable(about(transcript))}"]
        parts += [
            f"{self._heading(section.title)}\n{self._indented(self._shown(section.text))}"
            for section in sections(transcript)
        ]
        return "\n\n".join(parts) + "\n\n"

    def _as_markdown(self, transcript: Transcript) -> str:
        parts = [f"## {_code(printable(title(transcript)))}", _code(printable(about(transcript)))]
        parts += [f"### {section.title}\n\n{_block(self._shown(section.text))}" for section in sections(transcript)]
        return "\n\n".join(parts) + "\n\n"

    def _shown(self, text: str) -> str:
        lines = unfolded(text)
        return printable_lines(lines if self.full else shortened(lines))

    def _heading(self, words: str) -> str:
        return f"{_BOLD}{words}{_PLAIN}" if self.bold else words

    def _indented(self, text: str) -> str:
        lines = text.split("\n")
        if self.width is not None:
            room = max(self.width - 2, 20)
            lines = [part for line in lines for part in textwrap.wrap(line, room, replace_whitespace=False) or [""]]
        return "\n".join(f"  {line}".rstrip() for line in lines)


def unfolded(text: str) -> str:
    """Return a text with line ends and tabs as every screen shows them."""
    return text.replace("\r\n", "\n").expandtabs(4).rstrip("\n")


def shortened(text: str) -> str:
    """Return a text, or its beginning and its end with how much is left out between."""
    left = len(text) - FIRST_CHARACTERS - LAST_CHARACTERS
    if left <= 0:
        return text
    omitted = f"… {left:,} characters more, which `keval show --full` shows …"
    return f"{text[:FIRST_CHARACTERS]}\n{omitted}\n{text[-LAST_CHARACTERS:]}"


def _block(text: str) -> str:
    """Return a text as an indented block of code, which nothing in it can end, and no line of which looks like ours."""
    return textwrap.indent(text, "    ", lambda _: True)


def _code(text: str) -> str:
    """Return a text as code within a line, between more backticks than stand together anywhere in it."""
    fence = "`" * (1 + max((len(found) for found in re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}"
