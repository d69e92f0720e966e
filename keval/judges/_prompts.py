"""The message that a judge's model gets of a case: each text between tags with a mark that nothing in it can know."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from string import Template
from typing import Any

from keval.errors import InputError
from keval.judges._normal_text import WORD

REDACTED = "[redacted]"
"""What stands for a redacted term in a text that the agent made, whatever the term was."""


def template(names: Iterable[str]) -> str:
    """Return the template of a message that holds these texts in this order, for `string.Template`."""
    return "\n\n".join(["Mark: $mark", *(f"<{name}-$mark>\n${name}\n</{name}-$mark>" for name in names)])


def fresh_mark(texts: Collection[str], numbers: random.Random) -> str:
    """Return a random mark that occurs in none of the texts."""
    while True:
        mark = numbers.randbytes(8).hex()
        if not any(mark in text for text in texts):
            return mark


def redacted(text: str, terms: Sequence[str]) -> str:
    """Return a text with every term in it, as whole words and in any case, replaced by one neutral mark.

    However their accents are encoded: the text comes back in Unicode normal form C.
    """
    if not terms:
        return text
    text, *terms = (unicodedata.normalize("NFC", each) for each in (text, *terms))
    longest_first = sorted(terms, key=len, reverse=True)
    pattern = "|".join(r"\s+".join(re.escape(word) for word in term.split()) for term in longest_first)
    return re.sub(rf"(?<!{WORD})(?:{pattern})(?!{WORD})", REDACTED, text, flags=re.IGNORECASE)


def redact_problems(terms: Sequence[str]) -> list[str]:
    """Return what is wrong with a judge's option `redact`."""
    return [] if all(term.strip() for term in terms) else ["redact: an empty term would redact everything"]


def check_recorded(
    texts: Mapping[str, Any],
    must_hold: Mapping[str, Collection[str]],
    may_hold: Collection[str] = (),
) -> None:
    """Raise InputError unless texts from a log can take the place of a judge's own.

    These are `system`, and templates by name with the placeholders that each must hold; `may_hold` are those of `user`.
    """
    if not isinstance(texts.get("system"), str):
        raise InputError("the judge's texts in the log: 'system' is missing or not a text")
    for name, must in must_hold.items():
        template, optional = Template(str(texts.get(name))), may_hold if name == "user" else ()
        held = set(template.get_identifiers()) if template.is_valid() else set()
        if not set(must) <= held <= {*must, *optional}:
            more = f", and may hold ${', $'.join(optional)}" if optional else ""
            raise InputError(f"the judge's texts in the log: {name!r} must hold ${', $'.join(sorted(must))}{more}")
