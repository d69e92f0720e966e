from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import InputError
from keval.models import prices
from keval.usage import Usage

COUNTS = st.integers(0, 10**9)


def usage(input_tokens: int | None = 0, output: int | None = 0, read: int | None = 0, write: int | None = 0) -> Usage:
    """Return token counts, zero unless given."""
    return Usage(input_tokens, output, read, write)


def test_a_call_costs_the_sum_over_its_kinds_of_tokens() -> None:
    """1000 prompt tokens of which 500 are cached, and 500 of output, at 3, 15 and 0.30 USD per million."""
    assert prices.cost_usd("claude-sonnet-4-5", usage(500, 500, read=500)) == pytest.approx(0.00915)
    assert prices.cost_usd("claude-opus-5", usage(write=1_000_000)) == pytest.approx(6.25)
    other = prices.load({"gpt-4o-mini": {"input": 0.15, "output": 0.6}})
    assert other.cost_usd("gpt-4o-mini", usage(1000, 500)) == pytest.approx(0.00045)


def test_a_dated_snapshot_costs_what_its_model_costs() -> None:
    """The service answers with the snapshot's id; the price list has the model's."""
    tokens = usage(1000, 500)
    assert prices.cost_usd("claude-haiku-4-5-20251001", tokens) == prices.cost_usd("claude-haiku-4-5", tokens) == 0.0035


@pytest.mark.parametrize("model", [None, "", "gpt-4o", "claude-opus-5-6", "claude-opus", "claude-opus-5-2025"])
def test_an_unknown_model_has_no_cost(model: str | None) -> None:
    """No price is taken from a similar model."""
    assert prices.cost_usd(model, usage(1000, 500)) is None


@pytest.mark.parametrize("tokens", [usage(None, 1), usage(1, None), usage(1, 1, None), usage(1, 1, 0, None), Usage()])
def test_an_unknown_token_count_makes_the_cost_unknown(tokens: Usage) -> None:
    """A sum over what happens to be known would be too low without anyone seeing it."""
    assert prices.cost_usd("claude-opus-5", tokens) is None


def test_a_price_that_holds_for_short_prompts_is_not_used_for_long_ones() -> None:
    """Cached tokens count towards the size of the prompt."""
    assert prices.cost_usd("claude-haiku-5-5", usage(90_000, 100, read=10_000)) == pytest.approx(0.00915)
    assert prices.cost_usd("claude-haiku-5-5", usage(90_000, 100, read=10_001)) is None


def test_an_override_replaces_a_models_price_and_leaves_the_others() -> None:
    """A price that an override leaves out is unknown as soon as it is needed."""
    loaded = prices.load({"gpt-4o": {"input": 2.5, "output": 10}})
    assert loaded.cost_usd("gpt-4o", usage(1000, 500)) == pytest.approx(0.0075)
    assert loaded.cost_usd("gpt-4o", usage(700, 500, read=300)) is None
    assert loaded.cost_usd("claude-opus-5", usage(1000)) == prices.cost_usd("claude-opus-5", usage(1000))
    assert prices.cost_usd("gpt-4o", usage(1000, 500)) is None


def test_the_configs_own_prices_are_known_as_such() -> None:
    """A snapshot costs what its model costs, and a price given for the snapshot itself comes first."""
    loaded = prices.load({"gpt-4o": {"input": 1, "output": 1}, "claude-opus-5-20260901": {"input": 7, "output": 7}})
    assert loaded.is_own("gpt-4o")
    assert loaded.is_own("gpt-4o-20250101")
    assert not loaded.is_own("claude-opus-5")
    assert not loaded.is_own(None)
    assert loaded.cost_usd("claude-opus-5-20260901", usage(1_000_000)) == 7
    assert loaded.cost_usd("claude-opus-5-20260902", usage(1_000_000)) == 5


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"inptu": 1.0}, "unknown key 'inptu'"),
        ({"input": -1.0}, "input: -1.0 is not a price"),
        ({"input": float("nan")}, "input: nan is not a price"),
        ({"output": True}, "output: True is not a price"),
        ({"output": "1"}, "output: '1' is not a price"),
    ],
)
def test_an_override_that_is_no_price_is_refused_by_name(written: dict[str, float], said: str) -> None:
    """The message names the model and what is wrong."""
    with pytest.raises(InputError, match=f"prices of m: {said}"):
        prices.load({"m": written})


def test_a_dated_snapshot_is_cached_like_its_model() -> None:
    """Of a model of which nobody says from how many tokens on, that is unknown."""
    assert prices.load().shortest_cached("claude-haiku-4-5-20251001") == 4096
    assert prices.load().shortest_cached("gpt-4o") is None


def test_the_shipped_list_is_dated_sourced_and_complete() -> None:
    """Each model has all four prices: a cache read costs less than input, a cache write more."""
    shipped = prices.load()
    assert date.fromisoformat(shipped.as_of)
    assert shipped.source.startswith("https://")
    for model, price in shipped.models.items():
        assert None not in (price.input, price.output, price.cache_read, price.cache_write_5m), model
        assert (price.cache_read or 0) < (price.input or 0) < (price.cache_write_5m or 0) < (price.output or 0), model


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_a_known_cost_is_never_negative_and_grows_with_the_tokens(a: int, b: int, c: int, d: int) -> None:
    """One more token of any kind never makes a call cheaper."""
    cost = prices.cost_usd("claude-opus-5-5", Usage(a, b, c, d))
    more = prices.cost_usd("claude-opus-5-5", Usage(a + 1, b + 1, c + 1, d + 1))
    assert cost is not None
    assert more is not None
    assert 0 <= cost < more


def test_the_prompt_cache_saves_on_what_is_read_and_costs_more_on_what_is_written() -> None:
    """A million tokens read cost 0.50 in place of 5 USD, a million written 6.25."""
    saved = prices.load().saved_by_cache_usd
    assert saved("claude-opus-5", usage(read=1_000_000)) == pytest.approx(4.5)
    assert saved("claude-opus-5", usage(write=1_000_000)) == pytest.approx(-1.25)
    assert saved("claude-opus-5", usage(read=None)) is None
    assert saved("gpt-4o", usage(read=1000)) is None
    assert saved("claude-haiku-5-5", usage(read=1000)) is None, "which price each call had is not known"
    assert prices.has_cache("claude-opus-5")
    assert prices.has_cache("claude-haiku-5-5")
    assert not prices.has_cache("gpt-4o")
