"""Says what the prompt cache of the Messages API saved the judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import orjson

from keval.errors import InputError
from keval.reports.model import Header
from keval.reports.queries import Queries
from keval.usage import Usage

if TYPE_CHECKING:
    from keval.models.prices import Prices


def notes(queries: Queries, header: Header) -> Iterator[str]:
    """Yield a sentence for each judge whose prompts the cache kept."""
    judges = {judge.judge_id: judge for judge in header.judges}
    rows = [row for row in queries.ask("prompt_cache") if row["judge_id"] in judges]
    if not rows:
        return
    prices = _prices(queries)
    for row in rows:
        judge = judges[row["judge_id"]]
        read, written = row["read"], row["written"]
        saved = _saved_usd(prices, judge.models, Usage(0, 0, read, written))
        yield f"Judge {judge.name}: the prompt cache {_served(read, written)}{_worth(saved)}."


def _served(read: int | None, written: int | None) -> str:
    if read:
        return f"served {read:,} input tokens"
    return f"kept {written:,} input tokens" + (" and served none of them" if read == 0 else "")


def _prices(queries: Queries) -> Prices:
    """Return the prices of the newest config; where it has none that this version understands, those shipped."""
    from keval.models import prices

    (found,) = queries.ask("configured_prices")
    own = orjson.loads(found["prices"] or "null")
    readable = isinstance(own, dict) and all(isinstance(price, dict) for price in own.values())
    try:
        return prices.load(own if readable else None)
    except InputError:
        return prices.load()


def _saved_usd(prices: Prices, models: Sequence[str], usage: Usage) -> float | None:
    """Return what the cache saved in USD; of several models it is known only if all have the same price.

    A judgment counts the tokens of all models together.
    """
    saved = {prices.saved_by_cache_usd(model, usage) for model in models}
    return saved.pop() if len(saved) == 1 else None


def _worth(saved_usd: float | None) -> str:
    """Return what that was worth by the list prices, where they are known."""
    if saved_usd is None:
        return "; what that saved is unknown"
    if saved_usd < 0:
        return (
            f", and writing to it cost ${-saved_usd:,.4f} more than that saved; `prompt_cache: false` does without it"
        )
    return f", which saved ${saved_usd:,.4f} by list prices"
