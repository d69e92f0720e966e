"""Patterns for names, such as `docs_*`, as SQL: what fits a pattern in a query is what fits it in Python's fnmatch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from keval.projections.sql_file import literal

_PART = re.compile(r"\*|\?|\[(?P<not>!?+)(?P<set>\][^\]]*+|[^\]]++)\]|.", re.DOTALL)
"""A part of a pattern: any text, any character, one of a set (which may begin with a bracket), or itself."""

_RANGE = re.compile(r"(.)-(.)|.", re.DOTALL)


def fitting(patterns: Iterable[str]) -> str:
    """Return an SQL string, the regular expression of all names that fit a pattern; null if none is a pattern.

    DuckDB's own GLOB takes a character that is not ASCII for several.
    """
    expressions = ["".join(map(_expression, _PART.finditer(each))) for each in patterns if set(each) & set("*?[")]
    return literal(f"(?s){'|'.join(expressions)}") if expressions else "null"


def _expression(part: re.Match[str]) -> str:
    if part["set"]:
        found = "".join(_members(part["set"]))
        if part["not"]:
            return f"[^{found}]" if found else "."
        return f"[{found}]" if found else r"[^\x00-\x{10ffff}]"
    return {"*": ".*", "?": "."}.get(part[0]) or _character(part[0])


def _members(of_set: str) -> Iterator[str]:
    """Yield the characters and ranges of a set; a range whose ends are in the wrong order has no character."""
    for found in _RANGE.finditer(of_set):
        if found[1] is None:
            yield _character(found[0])
        elif found[1] <= found[2]:
            yield f"{_character(found[1])}-{_character(found[2])}"


def _character(one: str) -> str:
    return rf"\x{{{ord(one):x}}}"
