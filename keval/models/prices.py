"""What the tokens of one model call cost, from dated public prices (`prices.toml`) and those of a config.

A price or a token count that is not known makes the cost unknown (None): there is no fallback
price, because a guessed cost cannot be told from a real one afterwards.
"""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from keval.errors import InputError
from keval.usage import Usage, known_sum

FILE = Path(__file__).parent / "prices.toml"

CACHED_FROM = "cached_from"
"""What the file says of a model beside its prices."""

PER_TOKENS = 1_000_000
"""Prices are in USD per this many tokens."""

BATCH_SHARE = 0.5
"""Which share of the usual price a request costs that is part of a batch."""

SNAPSHOT = re.compile(r"-\d{8}$")
"""The date that ends the id of a model's snapshot: claude-haiku-4-5-20251001."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens of one model cost in USD; None is unknown."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write_5m: float | None = None
    max_prompt_tokens: int | None = None
    """The price holds for prompts up to this size, cached tokens included; None: for all."""


@dataclass(frozen=True, slots=True)
class Prices:
    """A dated list of prices."""

    as_of: str
    source: str
    models: Mapping[str, Price]
    own: frozenset[str] = frozenset()
    """The models whose price the config gives itself."""
    cached_from: Mapping[str, int] = field(default_factory=dict)
    """Tokens from which on a model's prompt is kept in the prompt cache, where that is known."""

    def is_own(self, model: str | None) -> bool:
        """Return whether the config itself gives the price of a model."""
        return self._listed(model) in self.own

    def price_of(self, model: str | None) -> Price | None:
        """Return the price of a model, None when it is unknown."""
        return self.models.get(self._listed(model))

    def shortest_cached(self, model: str | None) -> int | None:
        """Return from how many tokens on a model's prompt is kept in the prompt cache; None if that is not known."""
        return self.cached_from.get(self._listed(model))

    def cost_usd(self, model: str | None, usage: Usage) -> float | None:
        """Return the cost of one call in USD, or None when the price or a needed token count is unknown.

        The cost is the sum of tokens times price over input, output, cache reads and 5-minute cache
        writes. `input_tokens` does not include cached ones, as in the Messages API.
        """
        price = self.price_of(model)
        if price is None or not _holds(price, usage):
            return None
        parts = [
            _part(usage.input_tokens, price.input),
            _part(usage.output_tokens, price.output),
            _part(usage.cache_read_input_tokens, price.cache_read),
            _part(usage.cache_creation_input_tokens, price.cache_write_5m),
        ]
        whole = known_sum(parts)
        return None if whole is None else whole / PER_TOKENS

    def saved_by_cache_usd(self, model: str | None, usage: Usage) -> float | None:
        """Return what many calls together cost less in USD than without the prompt cache; None when that is unknown.

        What is read from the cache costs less than other input, what is written to it more: it can be less than 0.
        """
        price = self.price_of(model)
        reads, writes = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        if price is None or price.max_prompt_tokens is not None or reads is None or writes is None:
            return None
        if price.input is None or price.cache_read is None or price.cache_write_5m is None:
            return None
        return (reads * (price.input - price.cache_read) - writes * (price.cache_write_5m - price.input)) / PER_TOKENS

    def _listed(self, model: str | None) -> str:
        """Return the name under which a model may have a price: a snapshot costs what its model costs."""
        name = model or ""
        return name if name in self.models else SNAPSHOT.sub("", name)


def _holds(price: Price, usage: Usage) -> bool:
    """Whether a price holds for a prompt of this size."""
    if price.max_prompt_tokens is None:
        return True
    prompt = (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    return None not in prompt and sum(count or 0 for count in prompt) <= price.max_prompt_tokens


def _part(tokens: int | None, price: float | None) -> float | None:
    if tokens == 0:
        return 0.0
    return None if tokens is None or price is None else tokens * price


def cost_usd(model: str | None, usage: Usage) -> float | None:
    """Return the cost of one call in USD by the shipped prices; see `Prices.cost_usd`."""
    return load().cost_usd(model, usage)


def has_cache(model: str | None) -> bool:
    """Return whether the shipped prices say what a model's prompt cache costs."""
    price = load().price_of(model)
    return price is not None and None not in (price.cache_read, price.cache_write_5m)


def load(overrides: Mapping[str, Mapping[str, float]] | None = None) -> Prices:
    """Return the shipped prices, with the models in `overrides` (in the shape of the file) in place of theirs.

    Raises InputError for an invalid override.
    """
    shipped = _shipped()
    if not overrides:
        return shipped
    given = {model: _price(f"prices of {model}", written) for model, written in overrides.items()}
    return dataclasses.replace(shipped, models={**shipped.models, **given}, own=frozenset(given))


@cache
def _shipped() -> Prices:
    written = tomllib.loads(FILE.read_text(encoding="utf-8"))
    listed = written["models"]
    cached_from = {model: price.pop(CACHED_FROM) for model, price in listed.items() if CACHED_FROM in price}
    models = {model: _price(f"{FILE.name}: {model}", price) for model, price in listed.items()}
    return Prices(str(written["as_of"]), written["source"], models, cached_from=cached_from)


def _price(where: str, written: Mapping[str, Any]) -> Price:
    known = {field.name for field in dataclasses.fields(Price)}
    for name, value in written.items():
        if name not in known:
            raise InputError(f"{where}: unknown key {name!r} (known: {', '.join(sorted(known))})")
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
            raise InputError(f"{where}: {name}: {value!r} is not a price")
    return Price(**written)
