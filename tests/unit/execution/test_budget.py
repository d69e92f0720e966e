from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import BudgetReachedError, UsageError
from keval.execution.budget import Ledger, total_usd


def test_a_price_that_is_not_known_is_refused_under_a_limit_only() -> None:
    """Without a limit an unknown cost is just unknown; with one the limit would hold nothing."""
    Ledger().assume("baseline", None)
    with pytest.raises(UsageError, match="baseline"):
        Ledger(limit_usd=1.0).assume("baseline", None)
    with pytest.raises(UsageError, match="daily_budget_usd is set"):
        Ledger(daily_usd=1.0).assume("baseline", None)


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


@given(
    items=st.lists(st.lists(st.none() | st.floats(0, 0.3), min_size=1, max_size=4), max_size=30),
    limit=st.floats(0.1, 3),
    at_once=st.integers(1, 8),
)
def test_attempts_that_fail_are_held_to_the_limit_too(
    items: list[list[float | None]], limit: float, at_once: int
) -> None:
    """Each item is a list of attempts, of which each begins only if it fits; unknown costs count as reserved."""
    ledger = Ledger(limit_usd=limit)
    ledger.assume("item", 0.1)
    in_flight: list[tuple[float, list[float | None]]] = []

    def go_on() -> None:
        reserved, costs = in_flight.pop(0)
        renewed = ledger.renew("item", reserved, costs[0]) if costs[1:] else None
        if renewed is None:
            ledger.settle("item", reserved, costs[0])
        else:
            in_flight.append((renewed, costs[1:]))

    for costs in items:
        if len(in_flight) == at_once:
            go_on()
        reserved = ledger.reserve("item") if len(in_flight) < at_once else None
        if reserved is not None:
            in_flight.append((reserved, costs))
    while in_flight:
        go_on()
    assert ledger.reserved_usd == pytest.approx(0, abs=1e-9)
    assert ledger.spent_usd <= limit + at_once * 0.3 + 1e-9


def test_an_attempt_that_does_not_fit_changes_nothing() -> None:
    """What failed is then booked as the item's last attempt, once."""
    ledger = Ledger(limit_usd=1.0)
    ledger.assume("item", 0.4)
    reserved = ledger.reserve("item")
    assert reserved == 0.4
    assert ledger.renew("item", reserved, 0.6) is None
    assert (ledger.spent_usd, ledger.reserved_usd, ledger.refused) == (0.0, 0.4, 1)
    assert ledger.renew("item", reserved, 0.5) == 0.5
    assert (ledger.spent_usd, ledger.reserved_usd) == (0.5, 0.5)


def test_a_ledger_that_refused_says_how_to_go_on() -> None:
    """The message has the limit, what was spent and the next step."""
    ledger = Ledger(limit_usd=0.05)
    ledger.assume("item", 0.1)
    assert asyncio.run(ledger.reserve_in_time("item", asyncio.Event())) is None
    with pytest.raises(BudgetReachedError, match=r"0\.05.*run the same command again"):
        ledger.check()
    Ledger(limit_usd=1).check()


@pytest.mark.parametrize(("assumed", "cost", "begun"), [(0.5, 0.1, 6), (0.5, 0.5, 2), (0.1, 0.1, 10), (0.1, 0.3, 3)])
async def test_what_does_not_fit_yet_waits_for_what_is_in_flight(assumed: float, cost: float, begun: int) -> None:
    """An assumption that is too high costs time, not answers; the rest is refused when nothing is in flight."""
    ledger, stop = Ledger(limit_usd=1.0), asyncio.Event()
    ledger.assume("item", assumed)
    most = 0

    async def item() -> bool:
        nonlocal most
        reserved = await ledger.reserve_in_time("item", stop)
        if reserved is None:
            return False
        most = max(most, ledger.in_flight)
        for _ in range(3):
            await asyncio.sleep(0)
        ledger.settle("item", reserved, cost)
        return True

    done = await asyncio.gather(*(item() for _ in range(30)))
    assert stop.is_set()
    assert sum(done) >= begun
    assert ledger.spent_usd <= 1.0 + most * max(cost - assumed, 0) + 1e-9
    assert (ledger.in_flight, ledger.refused) == (0, 1)


async def test_a_cheaper_attempt_does_not_overtake() -> None:
    """Who came first is served first, so that a tight budget does not favour a cheap condition."""
    ledger, stop = Ledger(limit_usd=1.0), asyncio.Event()
    ledger.assume("dear", 0.6)
    ledger.assume("cheap", 0.1)
    first = ledger.reserve("dear")
    assert first is not None
    waiting = [asyncio.create_task(ledger.reserve_in_time(kind, stop)) for kind in ("dear", "cheap")]
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    ledger.settle("dear", first, 0.3)
    assert await asyncio.gather(*waiting) == [0.6, 0.1]


async def test_nothing_waits_for_a_budget_once_the_run_is_stopped() -> None:
    """Who waits is let go when the next attempt is booked, and is not refused."""
    ledger, stop = Ledger(limit_usd=1.0), asyncio.Event()
    ledger.assume("item", 0.6)
    reserved = ledger.reserve("item")
    assert reserved is not None
    waiting = asyncio.create_task(ledger.reserve_in_time("item", stop))
    await asyncio.sleep(0)
    stop.set()
    ledger.settle("item", reserved, 0.6)
    assert await waiting is None
    assert ledger.refused == 0


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


@pytest.mark.parametrize(
    ("limit", "daily", "earlier", "begun", "told"),
    [
        (0.5, 2.0, 0.0, 5, r"^budget_usd 0\.5 is reached.*raise it"),
        (5.0, 2.0, 1.75, 2, r"daily_budget_usd 2 is reached: \$0\.2000 spent.*after \$1\.7500 today \(UTC\); tomorrow"),
        (None, 2.0, 2.0, 0, "daily_budget_usd 2 is reached"),
        (None, 2.0, 3.0, 0, "daily_budget_usd 2 is reached"),
    ],
)
def test_the_budget_that_has_less_left_holds_and_is_named(
    limit: float | None, daily: float, earlier: float, begun: int, told: str
) -> None:
    """Of the command's budget and what is left of the day's, the smaller one is what may be spent."""
    ledger = Ledger(limit, daily, earlier)
    ledger.assume("item", 0.1)
    number = 0
    while (reserved := ledger.reserve("item")) is not None:
        ledger.settle("item", reserved, 0.1)
        number += 1
    ledger.refuse("item")
    assert number == begun
    with pytest.raises(BudgetReachedError, match=told) as reached:
        ledger.check()
    assert "the next item may cost $0.1000" in str(reached.value)


def test_what_costs_nothing_needs_no_budget() -> None:
    """An overspent day stops what costs something, not a judge without a model."""
    ledger = Ledger(daily_usd=1.0, earlier_usd=2.0)
    ledger.assume("exact_match", 0.0)
    assert ledger.reserve("exact_match") == 0.0


@pytest.mark.parametrize("cost", [0.05, 0.1, 0.2])
def test_a_budget_is_spent_to_the_cent(cost: float) -> None:
    """Twenty, ten or five items of equal cost fit into one dollar, whatever the floats add up to."""
    ledger = Ledger(limit_usd=1.0)
    ledger.assume("item", cost)
    while (reserved := ledger.reserve("item")) is not None:
        ledger.settle("item", reserved, cost)
    assert ledger.spent_usd == pytest.approx(1.0)
