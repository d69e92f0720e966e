"""Content words, sentences, and the excerpt of a text that fits a question best."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_SENTENCES = 4
"""No excerpt has more sentences."""

MOST_CHARACTERS = 500
"""No excerpt is longer."""

_STOP_WORDS = """
a about after all also am an and any are as at be because been but by can could did do does for from had has have how
i if in into is it its may me my no not of on or our please s should so some such t tell than that the their them then
there these they this those to us was we were what when where which who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English words that say nothing about the subject."""

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")
_QUOTE = re.compile(r"^(?:>\s?)+")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_LIST_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(.*)")
_RULE = re.compile(r"[-=*_|:\s]+$")
_FENCE = re.compile(r"```|~~~")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text, or a whole fenced block of code, under its heading."""

    text: str
    heading: str = ""
    code: bool = False

    def rating(self, wanted: set[str]) -> tuple[int, int]:
        """Return how many of the wanted words it has, with those of its heading and without."""
        own = set(content_words(self.text))
        return len(wanted & own.union(content_words(self.heading))), len(wanted & own)


def content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case without stop words, each once, in order."""
    return tuple(dict.fromkeys(word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS))


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a plain or markdown text; a list item or table row is at least one sentence."""
    return [
        Sentence(part, block.heading, block.code)
        for block in _blocks(text)
        for part in ([block.text] if block.code else _SENTENCE_END.split(block.text))
    ]


def excerpt(question: str, text: str) -> str:
    """Return the sentences that share most words with the question, in the order of the text.

    A sentence with less than half of the best one's words is left out. When none shares a word,
    the first one stands for the text. No word is cut.
    """
    wanted = set(content_words(question))
    found = [sentence for sentence in sentences(text) if not (sentence.code and len(sentence.text) > MOST_CHARACTERS)]
    ratings = [sentence.rating(wanted) for sentence in found]
    best, _ = max(ratings, default=(0, 0))
    ranked = sorted(range(len(found)), key=ratings.__getitem__, reverse=True)
    chosen = _fitting(found, [i for i in ranked if 2 * ratings[i][0] >= best]) if best else ranked[:1]
    return _joined([found[i] for i in sorted(chosen)]) or shortened(text, MOST_CHARACTERS)


def shortened(text: str, limit: int) -> str:
    """Return the text on one line in at most `limit` characters, cut between words."""
    line = textwrap.shorten(text, limit, placeholder=" …")
    return text[:limit] if line == "…" else line


def _fitting(found: Sequence[Sentence], ranked: Sequence[int]) -> list[int]:
    """Return the best sentences that fit into an excerpt; the very best always does."""
    chosen: list[int] = []
    room = MOST_CHARACTERS
    for index in ranked:
        if not chosen or len(found[index].text) < room:
            chosen.append(index)
            room -= len(found[index].text) + 2
        if len(chosen) == MOST_SENTENCES:
            break
    return chosen


def _joined(chosen: Sequence[Sentence]) -> str:
    """Return the sentences as one text; code, and what does not end like a sentence, on lines of its own."""
    text = ""
    for sentence in chosen:
        if sentence.code:
            text = f"{text.rstrip()}\n{sentence.text}\n"
        else:
            said = shortened(sentence.text, MOST_CHARACTERS)
            text += said + (" " if said.endswith((".", "!", "?")) else "\n")
    return text.strip()


def _blocks(text: str) -> Iterator[Sentence]:
    """Yield each paragraph, list item, table row and fenced block of code."""
    heading = ""
    paragraph: list[str] = []
    lines = iter(text.splitlines())
    for written in lines:
        line = _QUOTE.sub("", written.strip())
        title, item = _HEADING.match(line), _LIST_ITEM.match(line)
        begins = title or item or _FENCE.match(line) or _RULE.match(line) or line.startswith("|") or not line
        if begins and paragraph:
            yield Sentence(" ".join(paragraph), heading)
            paragraph = []
        if title:
            heading = title[1].rstrip("#").rstrip()
        elif _FENCE.match(line):
            yield Sentence(_fenced(line, lines), heading, code=True)
        elif item:
            paragraph = [item[1]]
        elif line and not _RULE.match(line):
            paragraph.append(line.strip("| "))
    if paragraph:
        yield Sentence(" ".join(paragraph), heading)


def _fenced(opening: str, lines: Iterator[str]) -> str:
    """Read on to the closing fence and return the block with its fences."""
    block = [opening]
    for line in lines:
        if line.strip().startswith(opening[:3]):
            break
        block.append(line)
    return "\n".join([*block, opening[:3]])
