from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import BudgetReachedError, UsageError
from keval.execution.budget import Ledger


def test_a_price_that_is_not_known_is_refused_under_a_limit_only() -> None:
    """Without a limit an unknown cost is just unknown; with one the limit would hold nothing."""
    Ledger().assume("id", None, "baseline")
    with pytest.raises(UsageError, match="baseline"):
        Ledger(limit_usd=1.0).assume("id", None, "baseline")
    with pytest.raises(UsageError, match="daily_budget_usd is set"):
        Ledger(daily_usd=1.0).assume("id", None, "baseline")


@given(
    items=st.lists(st.lists(st.none() | st.floats(0, 0.3), min_size=1, max_size=4), max_size=30),
    limit=st.floats(0.1, 3),
    at_once=st.integers(1, 8),
)
def test_spending_stays_within_the_limit_plus_what_was_in_flight(
    items: list[list[float | None]], limit: float, at_once: int
) -> None:
    """Each item is a list of attempts, of which each begins only if it fits; unknown costs count as set aside.

    The sum spent exceeds the limit by at most the error of the estimates in flight.
    """
    ledger, stop = Ledger(limit_usd=limit), asyncio.Event()
    ledger.assume("item", 0.1, "item")
    room = asyncio.Semaphore(at_once)

    async def work(costs: list[float | None]) -> None:
        async with room:
            for cost in costs:
                reservation = await ledger.reserve("item", stop)
                if reservation is None:
                    return
                with reservation:
                    await asyncio.sleep(0)
                    reservation.settle(cost)

    async def main() -> None:
        await asyncio.gather(*(work(costs) for costs in items))

    asyncio.run(main())
    assert ledger.reserved_usd == pytest.approx(0, abs=1e-9)
    assert ledger.in_flight == 0
    assert ledger.spent_usd <= limit + at_once * 0.3 + 1e-9


async def test_what_is_not_settled_is_given_back() -> None:
    """An attempt that is not made, or breaks off, costs nothing."""
    ledger = Ledger(limit_usd=1.0)
    ledger.assume("item", 0.4, "item")
    reservation = await ledger.reserve("item", asyncio.Event())
    assert reservation is not None
    with suppress(ZeroDivisionError), reservation:
        assert (ledger.reserved_usd, ledger.in_flight) == (0.4, 1)
        raise ZeroDivisionError
    assert (ledger.spent_usd, ledger.reserved_usd, ledger.in_flight) == (0.0, 0.0, 0)


async def test_what_would_go_beyond_the_limit_is_not_begun() -> None:
    """Of $10 of which $9.99 are spent a call of $0.02 is refused, and nothing is booked for it; one of $0.01 is not."""
    ledger, stop = Ledger(limit_usd=10.0), asyncio.Event()
    for name, cost in (("large", 9.99), ("cent", 0.01), ("two", 0.02)):
        ledger.assume(name, cost, name)
    for name, cost in (("large", 9.99), ("cent", 0.0)):
        reservation = await ledger.reserve(name, stop)
        assert reservation is not None
        with reservation:
            reservation.settle(cost)
    assert await ledger.reserve("two", stop) is None
    assert (stop.is_set(), ledger.spent_usd, ledger.reserved_usd) == (True, 9.99, 0.0)


def test_a_ledger_that_refused_says_how_to_go_on() -> None:
    """The message has the limit, what was spent and the next step."""
    ledger = Ledger(limit_usd=0.05)
    ledger.assume("item", 0.1, "item")
    assert asyncio.run(ledger.reserve("item", asyncio.Event())) is None
    with pytest.raises(BudgetReachedError, match=r"0\.05.*run the same command again"):
        ledger.check()
    Ledger(limit_usd=1).check()


@pytest.mark.parametrize(("assumed", "cost", "begun"), [(0.5, 0.1, 6), (0.5, 0.5, 2), (0.1, 0.1, 10), (0.1, 0.3, 3)])
async def test_what_does_not_fit_yet_waits_for_what_is_in_flight(assumed: float, cost: float, begun: int) -> None:
    """An assumption that is too high costs time, not answers; the rest is refused when nothing is in flight."""
    ledger, stop = Ledger(limit_usd=1.0), asyncio.Event()
    ledger.assume("item", assumed, "item")
    most = 0

    async def item() -> bool:
        nonlocal most
        reservation = await ledger.reserve("item", stop)
        if reservation is None:
            return False
        with reservation:
            most = max(most, ledger.in_flight)
            for _ in range(3):
                await asyncio.sleep(0)
            reservation.settle(cost)
        return True

    done = await asyncio.gather(*(item() for _ in range(30)))
    assert stop.is_set()
    assert sum(done) >= begun
    assert ledger.spent_usd <= 1.0 + most * max(cost - assumed, 0) + 1e-9
    assert (ledger.in_flight, ledger.refused) == (0, 1)


async def test_an_attempt_at_another_price_is_set_aside_at_that() -> None:
    """What a batch could not do costs twice as much; and what it cost says what the next one costs in a batch."""
    ledger, stop = Ledger(limit_usd=1.0), asyncio.Event()
    ledger.assume("judge", 0.1, "judge")
    again = await ledger.reserve("judge", stop, 2)
    assert again is not None
    with again:
        assert ledger.reserved_usd == again.usd == 0.2
        again.settle(0.5)
    first = await ledger.reserve("judge", stop)
    assert first is not None
    with first:
        assert (first.usd, ledger.max_cost_usd["judge"]) == (0.25, 0.25)
    assert await ledger.reserve("judge", stop, 3) is None


async def test_a_cheaper_attempt_does_not_overtake() -> None:
    """Who came first is served first, so that a tight budget does not favour a cheap condition."""
    ledger, stop = Ledger(limit_usd=1.0), asyncio.Event()
    ledger.assume("dear", 0.6, "dear")
    ledger.assume("cheap", 0.1, "cheap")
    first = await ledger.reserve("dear", stop)
    assert first is not None
    waiting = [asyncio.create_task(ledger.reserve(account, stop)) for account in ("dear", "cheap")]
    with first:
        for _ in range(5):
            await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        first.settle(0.3)
    assert [each.usd for each in await asyncio.gather(*waiting) if each] == [0.6, 0.1]


async def test_nothing_waits_for_a_budget_once_the_run_is_stopped() -> None:
    """Who waits is let go when the next attempt is booked, and is not refused."""
    ledger, stop = Ledger(limit_usd=1.0), asyncio.Event()
    ledger.assume("item", 0.6, "item")
    reservation = await ledger.reserve("item", stop)
    assert reservation is not None
    waiting = asyncio.create_task(ledger.reserve("item", stop))
    with reservation:
        await asyncio.sleep(0)
        stop.set()
        reservation.settle(0.6)
    assert await waiting is None
    assert ledger.refused == 0


async def test_an_unknown_cost_is_booked_as_what_was_set_aside() -> None:
    """A cost that the service did not tell still counts against the limit."""
    ledger = Ledger(limit_usd=1.0)
    ledger.assume("item", 0.4, "item")
    reservation = await ledger.reserve("item", asyncio.Event())
    assert reservation is not None
    with reservation:
        reservation.settle(None)
    assert ledger.spent_usd == 0.4
    assert await spent_on(ledger, 0.3) == 1
    told = r"^budget_usd 1 is reached: \$0\.3000 spent, \$0\.4000 assumed for 1 attempt of unknown cost, and the next "
    with pytest.raises(BudgetReachedError, match=told):
        ledger.check()


async def spent_on(ledger: Ledger, cost: float) -> int:
    """Do items of a cost until one is refused, and return how many were done."""
    stop, number = asyncio.Event(), 0
    while (reservation := await ledger.reserve("item", stop)) is not None:
        with reservation:
            reservation.settle(cost)
        number += 1
    return number


@pytest.mark.parametrize(
    ("limit", "daily", "earlier", "begun", "told"),
    [
        (0.5, 2.0, 0.0, 5, r"^budget_usd 0\.5 is reached.*; run the same command again: .* as much once more"),
        (0.05, 2.0, 0.0, 0, r"^budget_usd 0\.05 is reached.*; raise it and run the same command again"),
        (5.0, 2.0, 1.75, 2, r"daily_budget_usd 2 is reached: \$0\.2000 spent.*after \$1\.7500 today \(UTC\); tomorrow"),
        (None, 2.0, 2.0, 0, "daily_budget_usd 2 is reached"),
        (None, 2.0, 3.0, 0, "daily_budget_usd 2 is reached"),
        (None, 0.05, 0.0, 0, r"^daily_budget_usd 0\.05 is reached.*; raise it and run the same command again"),
        (0.05, 0.05, 0.0, 0, r"; raise budget_usd and daily_budget_usd and run the same command again"),
        (0.05, 2.0, 1.99, 0, r"; raise budget_usd and tomorrow, or when daily_budget_usd is raised, run the same"),
        (0.05, 0.06, 0.05, 0, r"; raise budget_usd and daily_budget_usd and run the same command again"),
    ],
)
def test_the_budget_that_has_less_left_holds_and_is_named(
    limit: float | None, daily: float, earlier: float, begun: int, told: str
) -> None:
    """Of the command's budget and what is left of the day's, the smaller one is what may be spent."""
    ledger = Ledger(limit, daily, earlier)
    ledger.assume("item", 0.1, "item")
    number = asyncio.run(spent_on(ledger, 0.1))
    assert number == begun
    with pytest.raises(BudgetReachedError, match=told) as reached:
        ledger.check()
    assert "the next item may cost $0.1000" in str(reached.value)


@pytest.mark.parametrize(("daily", "helps"), [(0.09, False), (0.1, True), (0.11, True)])
def test_tomorrow_is_promised_only_where_it_helps(daily: float, helps: bool) -> None:
    """A day's budget that one item exceeds is reached tomorrow as well: a nightly job would wait for ever."""
    ledger = Ledger(daily_usd=daily, earlier_usd=0.05)
    ledger.assume("item", 0.1, "item")
    assert asyncio.run(spent_on(ledger, 0.1)) == 0
    with pytest.raises(BudgetReachedError) as reached:
        ledger.check()
    assert ("tomorrow" in str(reached.value)) == helps


async def test_what_is_free_waits_for_nobody_until_it_costs_something() -> None:
    """A budget that is reached stops what costs; what was called free and did cost is held to it from then on."""
    ledger, stop = Ledger(limit_usd=0.1, enough=asyncio.Event(), free={"free"}), asyncio.Event()
    ledger.assume("dear", 0.5, "dear")
    assert await ledger.reserve("dear", stop) is None
    assert (ledger.refused, stop.is_set()) == (1, False)
    reservation = await ledger.reserve("free", stop)
    assert reservation is not None
    with reservation:
        reservation.settle(0.2)
    assert await ledger.reserve("free", stop) is None


async def test_a_stop_reaches_who_is_refused_one_item_after_the_other() -> None:
    """A whole backlog may be refused in a row: whoever sets the stop gets a turn meanwhile."""
    ledger, stop = Ledger(limit_usd=0.1, enough=asyncio.Event()), asyncio.Event()
    ledger.assume("item", 0.5, "item")
    asyncio.get_running_loop().call_soon(stop.set)
    for _ in range(3):
        assert await ledger.reserve("item", stop) is None
    assert stop.is_set()


async def test_what_costs_nothing_needs_no_budget() -> None:
    """An overspent day stops what costs something, not a judge without a model."""
    ledger = Ledger(daily_usd=1.0, earlier_usd=2.0)
    ledger.assume("exact_match", 0.0, "exact_match")
    assert await ledger.reserve("exact_match", asyncio.Event()) is not None


@pytest.mark.parametrize(("earlier", "begins"), [(0.99, True), (1.0, False), (2.0, False)])
async def test_what_says_its_cost_only_afterwards_begins_where_anything_is_left(earlier: float, begins: bool) -> None:
    """Nobody knows what it costs, so nothing begins on a day that is spent, as after an edit of a program."""
    ledger = Ledger(daily_usd=1.0, earlier_usd=earlier, untold={"program"})
    ledger.assume("program", 0.0, "program")
    reservation = await ledger.reserve("program", asyncio.Event())
    assert (reservation is not None) == begins
    if reservation is None:
        with pytest.raises(BudgetReachedError, match="the next item says only afterwards what it costs"):
            ledger.check()
    else:
        reservation.settle(0.0)
        assert not ledger.untold, "who said that it costs nothing is believed"


async def test_what_is_known_to_cost_nothing_is_not_called_unknown() -> None:
    """Where more was spent than there was, even that is refused, with what it costs."""
    ledger = Ledger(limit_usd=1.0, spent_usd=2.0)
    ledger.assume("item", 0.0, "item")
    assert await ledger.reserve("item", asyncio.Event()) is None
    with pytest.raises(BudgetReachedError, match=r"the next item may cost \$0\.0000"):
        ledger.check()


@pytest.mark.parametrize("cost", [0.05, 0.1, 0.2])
def test_a_budget_is_spent_to_the_cent(cost: float) -> None:
    """Twenty, ten or five items of equal cost fit into one dollar, whatever the floats add up to."""
    ledger = Ledger(limit_usd=1.0)
    ledger.assume("item", cost, "item")
    asyncio.run(spent_on(ledger, cost))
    assert ledger.spent_usd == pytest.approx(1.0)


async def test_a_ledger_that_goes_on_knows_what_the_one_before_it_paid() -> None:
    """What was spent counts, and the dearest item so far is what the next one may cost."""
    before = Ledger(limit_usd=1.0)
    before.assume("item", 0.1, "item")
    assert await spent_on(before, 0.4) == 2
    now = Ledger(limit_usd=1.0)
    now.assume("item", 0.1, "item")
    now.go_on_after(before)
    assert await spent_on(now, 0.1) == 0
    assert (now.spent_usd, now.spent_on_usd) == (0.8, {"item": 0.8})
