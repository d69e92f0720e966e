from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.budget import Ledger, total_usd
from keval.errors import BudgetReachedError, UsageError


def test_a_price_that_is_not_known_is_refused_under_a_limit_only() -> None:
    """Without a limit an unknown cost is just unknown; with one the limit would hold nothing."""
    Ledger().assume("baseline", None)
    with pytest.raises(UsageError, match="baseline"):
        Ledger(limit_usd=1.0).assume("baseline", None)


@given(costs=st.lists(st.floats(0, 0.3), max_size=60), limit=st.floats(0.1, 3), at_once=st.integers(1, 8))
def test_spending_stays_within_the_limit_plus_what_was_in_flight(
    costs: list[float], limit: float, at_once: int
) -> None:
    """With any costs, the sum spent exceeds the limit by at most the error of the estimates in flight."""
    ledger = Ledger(limit_usd=limit)
    ledger.assume("item", 0.1)
    in_flight: list[tuple[float, float]] = []
    for cost in costs:
        if len(in_flight) == at_once:
            ledger.settle("item", *in_flight.pop(0))
        reserved = ledger.reserve("item")
        if reserved is not None:
            in_flight.append((reserved, cost))
    for reserved, cost in in_flight:
        ledger.settle("item", reserved, cost)
    assert ledger.reserved_usd == pytest.approx(0, abs=1e-9)
    assert ledger.spent_usd <= limit + at_once * 0.3 + 1e-9


def test_a_ledger_that_refused_says_how_to_go_on() -> None:
    """The message has the limit, what was spent and the next step."""
    ledger = Ledger(limit_usd=0.05)
    ledger.assume("item", 0.1)
    assert ledger.reserve("item") is None
    with pytest.raises(BudgetReachedError, match=r"0\.05.*run the same command again"):
        ledger.check()
    Ledger(limit_usd=1).check()


def test_an_unknown_cost_is_booked_as_what_was_set_aside() -> None:
    """A cost that the service did not tell still counts against the limit."""
    ledger = Ledger(limit_usd=1.0)
    ledger.assume("item", 0.4)
    reserved = ledger.reserve("item")
    assert reserved == 0.4
    ledger.settle("item", reserved, None)
    assert ledger.spent_usd == 0.4


def test_the_total_of_an_item_is_unknown_if_any_part_is() -> None:
    """Failed attempts count; one unknown cost makes the sum unknown."""
    assert total_usd(0.5, [{"cost_usd": 0.25}]) == 0.75
    assert total_usd(0.5, [{"cost_usd": None}]) is None
