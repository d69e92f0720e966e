from __future__ import annotations

import asyncio

import pytest

from keval.retry import Failed, Retry
from keval.scheduling.backoff import LONGEST_BACKOFF_S, backoff_s, pause
from tests import virtual_time


@pytest.mark.parametrize(("failed", "wait_s"), [(1, 2), (2, 6), (3, 18), (9, LONGEST_BACKOFF_S)])
def test_backoff_grows_by_its_multiplier_up_to_a_limit(failed: int, wait_s: float) -> None:
    """Initial 2 s and multiplier 3 give 2, 6, 18 s, and never more than the longest wait."""
    assert backoff_s(Retry(5, 2, 3), failed) == wait_s


def test_waits_are_spread_and_last_as_long_as_the_service_asks() -> None:
    """Items that failed together come back apart, within half and the whole backoff, and not before a Retry-After."""

    async def waited(failed: Failed | None) -> float:
        began_s = asyncio.get_running_loop().time()
        await pause(Retry(5, 2, 3), 2, failed, asyncio.Event())
        return asyncio.get_running_loop().time() - began_s

    waits = [virtual_time.run(waited(None)) for _ in range(20)]
    assert 3 <= min(waits) < max(waits) <= 6
    asked = Failed("infra_error", "busy", retryable=True, retry_after_s=50)
    assert virtual_time.run(waited(asked)) == 50


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
