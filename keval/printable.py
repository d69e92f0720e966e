"""Makes foreign text safe to print: nothing in it can act on a terminal, forge a line or hide.

Ids, names, messages and keys come out of logs, datasets, servers and plug-ins. Whatever prints
such text as text, rather than as JSON, passes it through here.
"""

from __future__ import annotations

import re
import unicodedata

_JOINERS = "\u200c\u200d"
"""Invisible, harmless, and needed to write Persian and many emoji."""

_MARKUP = re.compile(
    r"""<(?=[A-Za-z/!?])                # a tag, a comment, an instruction or an address
    | (?<=\])\(                         # where a link or an image leads
    | ^[\s>*+\-0-9.)]*\[                # at the beginning of a line the name that links elsewhere refer to
    """,
    re.VERBOSE,
)
"""What in Markdown begins HTML, or makes a link or an image of a text: its last character does."""

_REFERENCES = {"<": "&lt;", "(": "&#40;", "[": "&#91;"}
"""How these stand in Markdown as nothing but themselves."""

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula."""


def printable(text: str) -> str:
    """Return text in which nothing can act on a terminal or hide: such characters become escapes.

    Control and format characters (escape codes, newlines, changes of writing direction),
    surrogates, private and unassigned ones, and the line and paragraph separators.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def printable_lines(text: str) -> str:
    """Return text of several lines, each of which is printable."""
    return "\n".join(printable(line) for line in text.split("\n"))


def without_markup(text: str) -> str:
    """Return a printable line in which Markdown finds no HTML, no image and no link that hides where it leads.

    Where it is not rendered a person can still read it, so all else stays: an address, a list, a name of a tool.
    """
    return _MARKUP.sub(lambda found: found[0][:-1] + _REFERENCES[found[0][-1]], printable(text))


def printable_json(encoded: bytes) -> bytes:
    """Return JSON that says the same, in which nothing can act on a terminal or hide: that stands escaped."""
    text = encoded.decode()
    acting = {ord(character): _as_json(character) for character in set(text) - {"\n"} if _acts(character)}
    return text.translate(acting).encode() if acting else encoded


def spreadsheet_cell(text: str) -> str:
    """Return printable text that no spreadsheet takes for a formula: that begins with an apostrophe."""
    shown = printable(text)
    return f"'{shown}" if text.lstrip().startswith(_FORMULA) else shown


def _acts(character: str) -> bool:
    category = unicodedata.category(character)
    return character not in _JOINERS and (category[0] == "C" or category in {"Zl", "Zp"})


def _as_json(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


def _escaped(character: str) -> str:
    if not _acts(character):
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
