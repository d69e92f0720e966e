"""Tokens of model calls, as agents, judges, prices and events count them."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls; None where the service did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        """Return the tokens of both; where one is not known, the sum is not, either."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Usage(*(None if None in pair else sum(pair) for pair in pairs))
