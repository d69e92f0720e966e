from __future__ import annotations

import asyncio

import pytest

from keval.agents._claude_starts import LONGEST_START_S, Start, usual
from tests import virtual_time


def ignore() -> None:
    """Take a sign of life."""


def test_no_more_start_at_once_than_may() -> None:
    """Tasks in flight are one limit, starts another; who waits to start says that it is alive."""
    signs: list[float] = []
    inside = most = 0

    async def start() -> None:
        nonlocal inside, most
        async with Start(3, lambda: signs.append(asyncio.get_running_loop().time())):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(2)
            inside -= 1

    async def main() -> None:
        await asyncio.gather(*(start() for _ in range(9)))

    virtual_time.run(main())
    assert most == 3
    assert set(signs) >= {0, 1, 2, 3}


def test_who_waits_for_a_server_keeps_nobody_from_starting() -> None:
    """A start that takes long is no work any more: its place is free after a while, and given back once."""

    async def main() -> list[float]:
        began_s = []

        async def start(seconds: float) -> None:
            async with Start(1, ignore):
                began_s.append(asyncio.get_running_loop().time())
                await asyncio.sleep(seconds)

        await asyncio.gather(start(60), start(60), start(1), start(1))
        return began_s

    assert virtual_time.run(main()) == [0, LONGEST_START_S, 2 * LONGEST_START_S, 2 * LONGEST_START_S + 1]


@pytest.mark.parametrize("turns", range(4))
def test_a_start_that_is_cancelled_gives_its_place_back(turns: int) -> None:
    """Whether it had the place, waited for it, or was about to get it."""

    async def start() -> None:
        async with Start(2, ignore):
            await asyncio.Event().wait()

    async def main() -> None:
        starting = [asyncio.create_task(start()) for _ in range(5)]
        for task in starting:
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        async with asyncio.timeout(1), Start(2, ignore), Start(2, ignore):
            pass

    virtual_time.run(main())


def test_two_may_start_at_once_on_any_machine() -> None:
    """While one waits for its servers another can work."""
    assert usual() >= 2
