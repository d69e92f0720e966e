from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import UsageError
from keval.scheduling.worker_pool import WorkerPool
from tests import virtual_time


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

    asyncio.run(WorkerPool(at_once, asyncio.Event()).work_off(range(items), work))
    assert sorted(done) == list(range(items))
    assert peak <= at_once


@given(waits=st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=30), at_once=st.integers(1, 4))
def test_an_item_that_waits_holds_up_no_other(waits: list[list[int]], at_once: int) -> None:
    """Meanwhile others are done, each once; never are more than twice as many begun as may be at once."""
    begun, most, done = 0, 0, []
    crew = WorkerPool(at_once, asyncio.Event())

    async def work(item: int) -> None:
        nonlocal begun, most
        begun += 1
        most = max(most, begun)
        for wait_s in waits[item]:
            await asyncio.sleep(1)
            with crew.aside():
                await asyncio.sleep(wait_s)
        begun -= 1
        done.append(item)

    virtual_time.run(crew.work_off(range(len(waits)), work))
    assert sorted(done) == list(range(len(waits)))
    assert most <= 2 * at_once


def test_somebody_else_works_while_an_item_waits() -> None:
    """Of two items at one at a time the second is done within the wait of the first."""
    done: list[tuple[float, str]] = []

    async def main() -> None:
        crew = WorkerPool(1, asyncio.Event())

        async def work(item: str) -> None:
            if item == "first":
                with crew.aside():
                    await asyncio.sleep(60)
            done.append((asyncio.get_running_loop().time(), item))

        await crew.work_off(["first", "second", "third"], work)

    virtual_time.run(main())
    assert done == [(0, "second"), (0, "third"), (60, "first")]


async def test_items_are_taken_only_when_there_is_room() -> None:
    """A source of any length is taken from one by one: memory does not grow with it."""
    taken = 0
    gate = asyncio.Event()

    async def take() -> int:
        nonlocal taken
        taken += 1
        return taken

    async def work(_: int) -> None:
        await gate.wait()

    stop = asyncio.Event()
    working = asyncio.create_task(WorkerPool(3, stop).work_off(take, work))
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

    await WorkerPool(2, stop).work_off(range(100), work)
    assert begun == finished
    assert len(begun) <= 3


async def test_an_error_about_the_run_ends_it() -> None:
    """What `work` raises is about the run and is not swallowed."""

    async def work(item: int) -> None:
        if item == 3:
            raise UsageError("no")
        await asyncio.sleep(0)

    with pytest.raises(ExceptionGroup) as caught:
        await WorkerPool(2, asyncio.Event()).work_off(range(10), work)
    assert isinstance(caught.value.exceptions[0], UsageError)
