"""What a command judges whose budget is reached is in tests/pipes/test_money.py."""

from __future__ import annotations

import asyncio

import pytest

from keval.execution.free_judging import stopped_with


@pytest.mark.parametrize("who", ["the user", "a budget"])
async def test_a_budget_ends_the_work_and_the_user_ends_the_command(who: str) -> None:
    """Whoever sets the event of the user's sets that of the work, and not the other way round."""
    stop = asyncio.Event()
    async with stopped_with(stop) as own:
        (stop if who == "the user" else own).set()
        await asyncio.wait_for(own.wait(), 5)
    assert stop.is_set() is (who == "the user")
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task() and not task.cancelling()] == []
