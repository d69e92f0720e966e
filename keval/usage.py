"""Tokens and dollars of model calls, as agents, judges, prices and events count them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

LARGEST_COUNT = 10**12
LARGEST_COST_USD = 10**9
"""As much as an event can hold; who says more of a single answer does not know."""


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
        return Usage(*(None if None in pair else _known_count(sum(pair)) for pair in pairs))


def _known_count(value: object) -> int | None:
    """Return what a service gives as a count of tokens; None for what is no count, or more than an event holds."""
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else None


def known_usage(told: Mapping[str, object]) -> Usage:
    """Return the tokens that an object of a service's names; anything but a count is unknown."""
    return Usage(**{name: _known_count(told.get(name)) for name in Usage.__dataclass_fields__})


def known_cost_usd(value: object) -> float | None:
    """Return what a service gives as an amount in US dollars; None for what is none, or more than an event holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST_COST_USD else None


def known_sum(amounts: Sequence[float | None]) -> float | None:
    """Return the sum of amounts of money; one unknown makes it unknown."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
