"""What the status of an HTTP reply says about asking again, whichever service sent it."""

from __future__ import annotations

PASSING = (408, 409, 429)
"""Beside every 5xx: the same request may succeed later."""

OVERLOADED = (429, 503, 529)
"""The service wants fewer requests at once."""

FIRST_SERVER_ERROR = 500

CONTENT_REFUSED = (400, 413, 422)
"""The service does not take what it was sent; any other 4xx is about the address, the key or the model."""


def passes(status: int | None) -> bool:
    """Return whether the same request may succeed later; None is the status of no reply."""
    return status is not None and (status in PASSING or status >= FIRST_SERVER_ERROR)


def is_overloaded(status: int | None) -> bool:
    """Return whether the service wants fewer requests at once."""
    return status in OVERLOADED
