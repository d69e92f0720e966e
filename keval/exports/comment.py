"""Markdown for a comment on a pull request and for the step summary of a CI: the conclusion first, the rest folded.

A hosted CI refuses a comment that is too long, so sections that do not fit are named instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from keval.counted import counted
from keval.exports import Export
from keval.exports._blocks import Section
from keval.exports._comparison import headlines
from keval.exports._layout import first_warnings, sections, title
from keval.exports._scores import scores
from keval.exports.markdown import drawn, escaped
from keval.plugins import option
from keval.reports.model import Report

MARKER = "<!-- keval comment -->"
"""By which a script finds the comment that it wrote before."""

_SEPARATOR = "\n\n"
_RESERVE = 500
"""Characters that stay free for what is said of sections that do not fit."""


@dataclass(frozen=True, kw_only=True)
class Comment(Export):
    """Writes the conclusion and the table of means in a few lines, and the whole report below them, folded."""

    max_characters: int = field(
        default=65_000, metadata=option("Length of the comment; what does not fit is left out and named")
    )

    def render(self, report: Report) -> bytes:
        """Return the report as UTF-8 Markdown."""
        banner = [f"> **{escaped(report.banner)}**"] if report.banner else []
        blocks = ["\n".join([MARKER, *banner]), f"### {escaped(title(report.header))}"]
        open_sections = _open(report)
        folded = [section for section in sections(report) if section not in open_sections]
        written = [(section.title, _body(section)) for section in open_sections]
        written += [(section.title, _folded(section)) for section in folded]
        return (_SEPARATOR.join([*blocks, *self._that_fit(written, len(_SEPARATOR.join(blocks)))]) + "\n").encode()

    def render_all(self, reports: Sequence[Report]) -> bytes:
        """Return several reports below each other, each with its share of the length."""
        share = self.max_characters // max(len(reports), 1)
        return b"\n".join(Comment(max_characters=share).render(report) for report in reports)

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a comment."""
        return head.startswith(MARKER.encode())

    def _that_fit(self, found: Sequence[tuple[str, str]], length: int) -> list[str]:
        """Return the texts that fit, and a line with the titles of the others."""
        kept, left_out = [], []
        for name, text in found:
            if length + len(text) + len(_SEPARATOR) > self.max_characters - _RESERVE:
                left_out.append(name)
            else:
                kept.append(text)
                length += len(text) + len(_SEPARATOR)
        if left_out:
            names = escaped(", ".join(left_out))
            named = names if len(names) < _RESERVE - 100 else counted(len(left_out), "section")
            kept.append(f"Too long for a comment: {named}. `keval report LOG` has all of it.")
        return kept


def _open(report: Report) -> list[Section]:
    """Return what is read without a click: what makes the report doubtful, its conclusion and the means."""
    doubts = first_warnings(report)
    found = [doubts, headlines(report), next(scores(report.metrics), None)]
    return [section for section in found if section is not None]


def _body(section: Section) -> str:
    return _SEPARATOR.join(drawn(section))


def _folded(section: Section) -> str:
    return f"<details><summary>{escaped(section.title)}</summary>\n\n{_body(section)}\n\n</details>"
