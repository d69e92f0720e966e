from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.scheduling.deadlines import Deadlines
from tests import virtual_time

NEVER = 10_000.0


@given(tasks=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=20))
def test_who_takes_longer_than_allowed_is_ended_in_time_and_nobody_else(tasks: list[tuple[int, int, int]]) -> None:
    """Whenever tasks begin, however long they take and may take: each ends at the earlier of both moments."""

    async def one(deadlines: Deadlines, begins: int, takes: int, may_take: int) -> tuple[bool, float]:
        await asyncio.sleep(begins)
        loop = asyncio.get_running_loop()
        try:
            with deadlines.until(loop.time() + may_take):
                await asyncio.sleep(takes - 0.5)
        except TimeoutError:
            return True, loop.time()
        return False, loop.time()

    async def main() -> list[tuple[bool, float]]:
        deadlines = Deadlines()
        return await asyncio.gather(*(one(deadlines, *task) for task in tasks))

    for (begins, takes, may_take), (is_late, ended) in zip(tasks, virtual_time.run(main()), strict=True):
        assert is_late == (may_take < takes)
        assert ended == pytest.approx(begins + min(takes - 0.5, may_take))


def test_a_deadline_that_is_put_off_in_time_does_not_pass() -> None:
    """A task that shows signs of life goes on; after the last one it has its time, and no more."""

    async def alive_for_a_while() -> None:
        loop = asyncio.get_running_loop()
        with Deadlines().until(2) as deadline:
            for _ in range(5):
                await asyncio.sleep(1)
                deadline.at_s = loop.time() + 2
            await asyncio.sleep(NEVER)

    async def main() -> float:
        with pytest.raises(TimeoutError):
            await alive_for_a_while()
        return asyncio.get_running_loop().time()

    assert virtual_time.run(main()) == pytest.approx(7)


def test_a_task_that_was_cancelled_from_outside_too_is_cancelled() -> None:
    """That its time was over as well hides no Ctrl-C."""

    async def main() -> None:
        deadlines = Deadlines()

        async def late() -> None:
            with deadlines.until(1):
                await asyncio.sleep(NEVER)

        task = asyncio.create_task(late())
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_at(1, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task

    virtual_time.run(main())


def test_deadlines_hold_in_another_event_loop_as_well() -> None:
    """A timer of a loop that is gone is no timer."""
    deadlines = Deadlines()

    async def main() -> None:
        with deadlines.until(asyncio.get_running_loop().time() + NEVER):
            pass
        with pytest.raises(TimeoutError), deadlines.until(asyncio.get_running_loop().time() + 1):
            await asyncio.sleep(NEVER)

    for _ in range(2):
        virtual_time.run(main())
