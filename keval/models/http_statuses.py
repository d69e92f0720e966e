"""What the status of an HTTP reply says about asking again, whichever service sent it."""

from __future__ import annotations

PASSING = (408, 409, 429)
"""Beside every 5xx: the same request may succeed later."""

OVERLOADED = (429, 503, 529)
"""The service wants fewer requests at once."""

FIRST_SERVER_ERROR = 500

GIVEN_UP = (408, 409, 502, 504, *range(520, 528))
"""A gateway has given up, or refuses a second time: what is behind it may have done what was asked."""

REDIRECTS = range(300, 400)

CONTENT_REFUSED = (400, 413, 422)
"""The service does not take what it was sent; any other 4xx is about the address, the key or the model."""


def passes(status: int | None) -> bool:
    """Return whether the same request may succeed later; None is the status of no reply."""
    return status is not None and (status in PASSING or status >= FIRST_SERVER_ERROR)


def is_refused(status: int) -> bool:
    """Return whether it is certain that nothing was done of what was asked."""
    return status < FIRST_SERVER_ERROR and status not in GIVEN_UP


def may_be_paid(status: int) -> bool:
    """Return whether a request may be paid for all the same, as it may have been answered to somebody else."""
    return status in GIVEN_UP


def is_redirect(status: int) -> bool:
    """Return whether the service is at another address."""
    return status in REDIRECTS


def is_overloaded(status: int | None) -> bool:
    """Return whether the service wants fewer requests at once."""
    return status in OVERLOADED
