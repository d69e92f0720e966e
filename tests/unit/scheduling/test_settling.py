from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import EnvironmentLacksError
from keval.scheduling.settling import Settling
from tests import virtual_time


@given(
    waits=st.lists(st.tuples(st.integers(0, 3) | st.none(), st.integers(0, 2) | st.none()), max_size=12),
    most=st.integers(1, 4),
)
def test_each_item_is_settled_once_in_order_when_it_is_safe(
    waits: list[tuple[int | None, int | None]], most: int
) -> None:
    """However long it takes until it is, and however long others take who are told then; never too many wait."""
    brought = safe = 0
    settled: list[int] = []
    told: list[int] = []

    async def wait_until_safe(seconds: int) -> None:
        nonlocal safe
        await asyncio.sleep(seconds)
        safe += 1

    def settle(item: int) -> None:
        nonlocal safe
        safe += waits[item][0] is None
        settled.append(item)
        assert safe == len(settled)

    def tell(item: int) -> Awaitable[None] | None:
        assert item in settled
        told.append(item)
        then = waits[item][1]
        return None if then is None else asyncio.sleep(then)

    async def main() -> None:
        nonlocal brought
        settling = Settling(most, settle, tell, lambda _: pytest.fail("nothing is given up"))
        async with asyncio.TaskGroup() as group:
            group.create_task(settling.work_off())
            for number, (seconds, _) in enumerate(waits):
                await settling.bring(number, None if seconds is None else wait_until_safe(seconds))
                brought += 1
                assert brought - len(told) <= most
            settling.end()

    virtual_time.run(main())
    assert settled == told == list(range(len(waits)))


def nobody(_: str) -> None:
    """Tell nobody."""


async def test_what_is_safe_is_settled_while_others_wait_to_be_told() -> None:
    """A judge without room for an answer holds up no count."""
    room = asyncio.Event()

    async def tell(_: str) -> None:
        await room.wait()

    settled: list[str] = []
    settling = Settling(4, settled.append, tell, settled.append)
    working = asyncio.create_task(settling.work_off())
    for item in ("one", "two", "three"):
        await settling.bring(item, None)
    for _ in range(5):
        await asyncio.sleep(0)
    assert settled == ["one", "two", "three"]
    settling.end()
    room.set()
    await working


async def test_what_cannot_be_made_safe_ends_it_and_is_given_up_with_all_after_it() -> None:
    """Nobody is told that it is done."""

    async def fail() -> None:
        raise EnvironmentLacksError("the disk is broken")

    settled: list[str] = []
    given_up: list[str] = []
    settling = Settling(4, settled.append, nobody, given_up.append)
    await settling.bring("safe", None)
    await settling.bring("lost", fail())
    await settling.bring("after", None)
    with pytest.raises(ExceptionGroup) as caught:
        await settling.work_off()
    assert caught.group_contains(EnvironmentLacksError, match="broken")
    await settling.bring("too late", None)
    assert (settled, given_up) == (["safe"], ["lost", "after", "too late"])


async def test_what_is_left_when_it_is_cancelled_is_given_up() -> None:
    """What each has, such as a folder, is given back."""
    given_up: list[str] = []
    settling = Settling(4, nobody, nobody, given_up.append)
    await settling.bring("one", asyncio.Event().wait())  # type: ignore[arg-type]  # what it returns does not matter
    await settling.bring("two", None)
    working = asyncio.create_task(settling.work_off())
    for _ in range(3):
        await asyncio.sleep(0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert given_up == ["one", "two"]
