"""Says what may be meant by a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def hint(name: object, known: Iterable[object]) -> str:
    """Return the end of a message: the known name that is nearest, or nothing where none is near."""
    found = _nearest(str(name), list(map(str, known)))
    return f"; did you mean {found[0]!r}?" if found else ""


def near(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name, or else all of them."""
    there = list(dict.fromkeys(known))
    found = _nearest(name, there)
    return f"did you mean {found[0]!r}?" if found else f"there are: {', '.join(there) or 'none'}"


def _nearest(name: str, known: list[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(name, known, n=1)
