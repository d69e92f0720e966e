from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import UsageError
from keval.execution.scheduler import LONGEST_BACKOFF_S, Limiter, backoff_s, pause, work_off
from keval.execution.specs import Failed
from keval.retry import Retry

OVERLOADED = Failed("infra_error", "429", retryable=True, overloaded=True)


@pytest.mark.parametrize(("failed", "wait_s"), [(1, 2), (2, 6), (3, 18), (9, LONGEST_BACKOFF_S)])
def test_backoff_grows_by_its_multiplier_up_to_a_limit(failed: int, wait_s: float) -> None:
    """Initial 2 s and multiplier 3 give 2, 6, 18 s, and never more than the longest wait."""
    assert backoff_s(Retry(5, 2, 3), failed) == wait_s


async def test_a_stop_ends_a_wait() -> None:
    """Whoever stops a run is not kept waiting by a service that wants to be left alone for half a minute."""
    stop = asyncio.Event()
    busy = Failed("infra_error", "busy", retryable=True, retry_after_s=30)
    waiting = asyncio.create_task(pause(Retry(), 1, busy, stop))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not waiting.done()
    stop.set()
    await asyncio.wait_for(waiting, 10)


def test_overload_halves_the_limit_and_success_restores_it() -> None:
    """The limit falls to half on «too many», never below one, and rises by one per round of successes."""
    limiter = Limiter(8)
    limiter.adjust(OVERLOADED)
    assert limiter.limit == 4
    for _ in range(5):
        limiter.adjust(OVERLOADED)
    assert limiter.limit == 1
    for _ in range(1 + 2 + 3 + 4 + 5 + 6 + 7):
        limiter.adjust(None)
    assert limiter.limit == 8
    for _ in range(100):
        limiter.adjust(None)
    assert limiter.limit == 8


@given(items=st.integers(0, 40), at_once=st.integers(1, 8))
def test_every_item_is_done_once_and_never_more_than_allowed_at_once(items: int, at_once: int) -> None:
    """All items are done exactly once, and the number in flight stays within the limit."""
    running, peak, done = 0, 0, []

    async def work(item: int) -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        running -= 1
        done.append(item)

    asyncio.run(work_off(range(items), work, at_once=at_once, stop=asyncio.Event()))
    assert sorted(done) == list(range(items))
    assert peak <= at_once


async def test_items_are_taken_only_when_there_is_room() -> None:
    """A source of any length is taken from one by one: memory does not grow with it."""
    taken = 0
    gate = asyncio.Event()

    async def source() -> AsyncIterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    async def work(_: int) -> None:
        await gate.wait()

    stop = asyncio.Event()
    working = asyncio.create_task(work_off(source(), work, at_once=3, stop=stop))
    for _ in range(20):
        await asyncio.sleep(0)
    assert taken == 3
    stop.set()
    gate.set()
    await working


async def test_stop_finishes_what_is_in_flight_and_takes_no_more() -> None:
    """After `stop` the items begun are finished and no other is begun."""
    begun: list[int] = []
    finished: list[int] = []
    stop = asyncio.Event()

    async def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            stop.set()
        await asyncio.sleep(0.01)
        finished.append(item)

    await work_off(range(100), work, at_once=2, stop=stop)
    assert begun == finished
    assert len(begun) <= 3


async def test_an_error_about_the_run_ends_it() -> None:
    """What `work` raises is about the run and is not swallowed."""

    async def work(item: int) -> None:
        if item == 3:
            raise UsageError("no")
        await asyncio.sleep(0)

    with pytest.raises(ExceptionGroup) as caught:
        await work_off(range(10), work, at_once=2, stop=asyncio.Event())
    assert isinstance(caught.value.exceptions[0], UsageError)
