"""Brings texts into a form in which they can be compared: what a reader would call the same text is the same string."""

from __future__ import annotations

import re
import unicodedata

WORD = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af]"
"""A character of a word, in scripts that put spaces between words."""

_MINUS = re.compile(r"(?<![\w.,)\]])[-‐‑–](?=[.$€£]?\d)")
ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


def normal(
    text: str, *, ignore_case: bool, strip: bool, ignore_punctuation: bool = False, ignore_articles: bool = False
) -> str:
    """Return a text in Unicode normal form C, without what is to be ignored.

    `strip` takes white space from both ends and makes one space of a run of it. Punctuation becomes a space, apart from
    apostrophes, which leave none. The minus of a number stays.
    """
    text = unicodedata.normalize("NFC", text)
    if ignore_case:
        # Folding can take a composed character apart again.
        text = unicodedata.normalize("NFC", text.casefold())
    if ignore_punctuation:
        text = "".join(map(_without_punctuation, _MINUS.sub("\u2212", text)))  # a minus is a symbol, a hyphen is not
    if ignore_articles:
        text = ARTICLES.sub(" ", text)
    return " ".join(text.split()) if strip else text


def _without_punctuation(character: str) -> str:
    if not unicodedata.category(character).startswith("P"):
        return character
    return "" if character in "'’" else " "
