"""Cuts foreign text for a message: first the values of secrets are taken out, then it is cut.

The other way round the front of a key would stay at the cut, where nothing recognises it any more.
"""

from __future__ import annotations

from keval.secrets.variables import Secrets

CUT = "…"
"""Marks where text is missing at the end."""


def beginning_of(text: str, limit: int) -> str:
    """Return a text without secrets: all of it, or its first `limit` characters and a mark."""
    told = Secrets.redact_all(text)
    return told if len(told) <= limit else f"{told[:limit]}{CUT}"


def end_of(text: str, limit: int) -> str:
    """Return the last `limit` characters of a text without secrets."""
    return Secrets.redact_all(text)[-limit:]


def last_lines(text: str, number: int) -> str:
    """Return the last lines of a text without secrets, side by side."""
    return " / ".join(Secrets.redact_all(text).splitlines()[-number:])
