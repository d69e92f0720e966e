"""Errors on demand: which request fails, and how.

A specification is a list such as `429:0.1,cut:0.02`: a fault and its share of the calls of
`POST /v1/messages`, or of what it is about: of batches, of their requests, of the calls that fetch results.
Which call fails is drawn in the order of arrival from a seeded generator.
"""

from __future__ import annotations

import math
import random
from collections.abc import Container
from dataclasses import dataclass
from itertools import accumulate

from keval.errors import UsageError


@dataclass(frozen=True, slots=True)
class HttpError:
    """An error that the API itself answers with."""

    status: int
    type: str
    message: str
    retry_after: bool = False
    """Whether the API says how long to wait."""


HTTP_ERRORS = {
    "400": HttpError(400, "invalid_request_error", "The request is not valid."),
    "401": HttpError(401, "authentication_error", "invalid x-api-key"),
    "403": HttpError(403, "permission_error", "This key may not use the resource."),
    "404": HttpError(404, "not_found_error", "The resource does not exist."),
    "413": HttpError(413, "request_too_large", "The request is larger than allowed."),
    "429": HttpError(429, "rate_limit_error", "The rate limit is exceeded.", retry_after=True),
    "500": HttpError(500, "api_error", "Internal server error"),
    "529": HttpError(529, "overloaded_error", "Overloaded", retry_after=True),
}
"""The API's errors by HTTP status."""

BREAKAGES = {
    "cut": "the connection closes in the middle of the answer",
    "hang": "no answer until the client leaves",
    "garbage": "status 200, and a web page instead of an answer",
}
"""What else can go wrong."""

OF_REQUESTS = {
    "errored": "a request of a batch fails in the service",
    "expired": "a request of a batch is not processed in time",
    "canceled": "a request of a batch is canceled",
}
OF_BATCHES = {
    "batch_500": "the batch is made, and the answer is an error 500",
    "batch_cut": "the batch is made, and the connection closes in the middle of the answer",
    "batch_lost": "no batch is made, and the answer is an error 500",
}
OF_RESULTS = {"results_cut": "the connection closes in the middle of a batch's results"}
"""What can go wrong with batches."""

OF_MESSAGES = {*HTTP_ERRORS, *BREAKAGES}
GROUPS = (OF_MESSAGES, {*OF_REQUESTS}, {*OF_BATCHES}, {*OF_RESULTS})
"""What is drawn together: the shares of each of these add up to 1 at most."""

EXAMPLE = "429:0.1,529:0.05,cut:0.02"


@dataclass(frozen=True, slots=True)
class Faults:
    """The share of each fault, and the generator that draws from them."""

    shares: dict[str, float]
    random: random.Random

    @property
    def refuse_every_key(self) -> bool:
        """Whether every call is answered with 401: then the key is wrong, for other routes than messages too."""
        return self.shares.get("401") == 1

    def draw(self, among: Container[str] = OF_MESSAGES) -> str | None:
        """Return which of these faults the next call has, or None if it is to be answered."""
        drawn = self.random.random()
        shares = {name: share for name, share in self.shares.items() if name in among}
        limits = zip(shares, accumulate(shares.values()), strict=True)
        return next((name for name, limit in limits if drawn < limit), None)


def parse(specification: str, seed: int) -> Faults:
    """Return the faults of a specification; empty means none.

    Raises UsageError that says what is wrong and what is allowed.
    """
    shares: dict[str, float] = {}
    for item in filter(None, map(str.strip, specification.split(","))):
        name, _, share = map(str.strip, item.partition(":"))
        if not any(name in group for group in GROUPS):
            raise _wrong(specification, f"unknown fault {name!r}")
        if name in shares:
            raise _wrong(specification, f"{name} is there twice")
        shares[name] = _share(specification, name, share)
    total = max(math.fsum(share for name, share in shares.items() if name in group) for group in GROUPS)
    if total > 1 + 1e-9:
        raise _wrong(specification, f"the shares add up to {total:g}, which is more than 1")
    return Faults(shares, random.Random(seed))  # noqa: S311 - reproducible, not secret


def _share(specification: str, name: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise _wrong(specification, f"the share of {name} is {text!r}, and not a number from 0 to 1")
    return share


def _wrong(specification: str, problem: str) -> UsageError:
    known = ", ".join([*HTTP_ERRORS, *BREAKAGES, *OF_REQUESTS, *OF_BATCHES, *OF_RESULTS])
    return UsageError(f"mock errors {specification!r}: {problem}; write for example {EXAMPLE} (known: {known})")
