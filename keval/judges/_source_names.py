"""Names of sources and when two are the same: titles, paths and addresses.

Case, spaces, underscores and a page's fragment do not count. Two addresses are the same if host, path and query are;
a title or a path is the same as an address whose path ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from keval.judges._normal_text import normal

AFTER_ADDRESS = ".,;:!?"
"""Punctuation that ends a sentence and not an address."""


class _Name(NamedTuple):
    is_address: bool
    segments: tuple[str, ...]
    """Of an address the host, too."""
    query: str = ""


def are_same(one: str, other: str) -> bool:
    """Return whether two names are those of one source."""
    first, second = _name(one), _name(other)
    if first.is_address == second.is_address:
        return first == second
    address, text = (first, second) if first.is_address else (second, first)
    return bool(text.segments) and address.segments[-len(text.segments) :] == text.segments


def distinct(sources: Iterable[str]) -> list[str]:
    """Return each source by the first of its names; no name is compared with each other one."""
    named = [(source, _name(source)) for source in sources]
    lengths = {len(name.segments) for _, name in named if not name.is_address} - {0}
    found: list[str] = []
    known: set[_Name] = set()
    texts: set[tuple[str, ...]] = set()
    ends: set[tuple[str, ...]] = set()
    """Those of addresses that a title or a path may be."""
    for source, name in named:
        own = {name.segments[-length:] for length in lengths} if name.is_address else {name.segments}
        if name in known or not own.isdisjoint(texts if name.is_address else ends):
            continue
        found.append(source)
        known.add(name)
        (ends if name.is_address else texts).update(own - {()})
    return found


@lru_cache(maxsize=4096)
def _name(source: str) -> _Name:
    if not re.match(r"https?://", source, re.IGNORECASE):
        return _Name(False, _segments(source))
    try:
        parts = urlsplit(source.rstrip(AFTER_ADDRESS))
    except ValueError:  # no host can be read from it, as where full-width punctuation follows one
        return _Name(True, _segments(source.partition("//")[2]))
    return _Name(True, _segments(f"{parts.netloc}/{parts.path}"), unquote(parts.query))


def _segments(path: str) -> tuple[str, ...]:
    found = (normal(unquote(part).replace("_", " "), ignore_case=True, strip=True) for part in path.split("/"))
    return tuple(part for part in found if part not in {"", "."})
