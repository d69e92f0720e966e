"""What the lines of a sheet look like, also when an editor has saved them in another way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MARK = "<!-- keval"
ABOUT = re.compile(rf"^\s*{MARK} (\{{.*\}}) -->\s*$")
_BULLET = r"(?:\\?[-*+]\s*|\d+[.)]\s+)?"
BOX = re.compile(
    rf"^\s*{_BULLET}(?:\\?\[(?P<mark>[^\[\]\\]*)\\?\]|(?P<sign>[☐☑☒]))\s*[*_]*"
    # Of a length: else a line of many underscores would take the square of it.
    r"(?P<choice>\w[\w\\]{0,30}?)(?::?[*_]+)?(?P<rest>[\s:].*)?$"
)
"""A box, also as it looks when an editor has saved it with another bullet, as a sign, or with backslashes."""
_SIGNS = {"☐": "", "☑": "x", "☒": "x"}
RULE = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$")
"""A line across the page."""
_BOLD = r"(?:\*\*|__)"
_HEADINGS, TOOLS = "Question|Golden answer|Answer", "Tools called"
_NUMBER = r"-?\d[\d.e+-]*"
OWN = re.compile(
    rf"^\s*{_BOLD}(?:(?:{_HEADINGS}){_BOLD}|Judge{_BOLD} .+: (?:passed|FAILED), score [^\s,]+(?:, passes from \S+)?"
    rf"|{TOOLS}{_BOLD}(?: .+)?|.+{_BOLD}, from {_NUMBER} to {_NUMBER})\s*$"
)
"""A line that says what stands below it, or what is asked."""
HEADS = re.compile(rf"^\s*{_BOLD}(Question|Answer|Judge){_BOLD}")
"""One of which each entry has but one."""
BEGINS = re.compile(rf"^\s*{_BOLD}.*{_BOLD}|^\s*{_BOLD}[^*]+$")
"""What may be the first part of such a line."""
TOOL_NAMES = re.compile(r"(?:[^\s,]+, ?)*[^\s,]+,?\s*$")
HEADING = re.compile(r"^##\s+[*_\\]*\d+[*_.\\]*\s*(?:\{[#.][^}]*\}|#+)?\s*$")
"""The heading of an entry, also as an editor may write it."""


def _field(name: str) -> re.Pattern[str]:
    """Return a pattern of a line that fills a field in, such as `Score: 4` or `**score** : 4`."""
    return re.compile(rf"^\s*{_BULLET}[*_]*{name}[*_]*\s*:[*_]*(.*)$", re.IGNORECASE)


LABELER, SCORE, NOTE = _field("Labeler"), _field("Score"), _field("Note")
AROUND = " \t*_`\\"
"""What may stand around what is filled in."""


def mark_of(box: re.Match[str]) -> str:
    """Return what stands in a box; a ticked one has an x."""
    return _SIGNS[box["sign"]] if box["sign"] else box["mark"].strip()


def is_quoted(text: str) -> bool:
    """Return whether a line is of a quote."""
    return text.lstrip().startswith(">")


def without_heading(line: int, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that say what an entry is about which has no heading, with what is wrong."""
    for number, text in enumerate(lines, start=line):
        if MARK in text:
            yield number, "the heading of this entry is gone; write `## 1` above it"
