"""Addresses of pages: every state of a page is one, and each can be handed on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from starlette.types import Scope

LABEL = "/label"
"""Where a person scores answers."""

_DOTS = {".", ".."}
"""Ids that a browser takes for folders, however they are written in a path."""

_OWN = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A path on this server: it begins with one slash, and nothing in it is what browsers correct."""


def sample(sample_id: str, **query: str | None) -> str:
    """Return where a sample is shown with its answers side by side."""
    if sample_id in _DOTS or not sample_id:
        return "/s/" + _query({"id": sample_id, **query})
    return f"/s/{quote(sample_id, safe='')}{_query(query)}"


def response(event_id: str) -> str:
    """Return where one answer or failure is shown with all its steps."""
    return f"/r/{quote(event_id, safe='')}"


def text(event_id: str, number: int) -> str:
    """Return where the n-th text of an answer or failure is had as it is, to its end."""
    return f"{response(event_id)}/text/{number}"


def samples(query: Mapping[str, str | None]) -> str:
    """Return where the samples are listed that a query asks for."""
    return f"/samples{_query(query)}"


def sql(statement: str) -> str:
    """Return where a statement is run."""
    return f"/sql{_query({'q': statement})}"


def news(number: int, page: str) -> str:
    """Return where it is said what came after a state of the log, for a page."""
    return f"/news{_query({'after': str(number), 'page': page})}"


def newest(page: str) -> str:
    """Return where a page is shown anew, with all that the log has by then."""
    return f"/newest{_query({'page': page})}"


def label(place: int | None) -> str:
    """Return where one answer is scored; without a number the next one."""
    return LABEL + _query({"n": None if place is None else str(place)})


def asked(scope: Scope) -> tuple[str, str]:
    """Return the path and the query of a request as they were sent.

    Decoded, a `?`, `#` or `%` of an id would be another.
    """
    return scope["raw_path"].decode("ascii", "replace"), scope["query_string"].decode("ascii", "replace")


def is_own(address: str) -> bool:
    """Return whether an address is a path on this server, and cannot lead anywhere else."""
    return _OWN.fullmatch(address) is not None


def _query(given: Mapping[str, str | None]) -> str:
    kept = {name: value for name, value in given.items() if value is not None}
    return f"?{urlencode(kept)}" if kept else ""
