"""Properties of the loop in which coroutines of the user's run."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from keval.processes import coroutines
from keval.processes.coroutines import StalledError, awaited


async def cancelled_once_begun(called: Callable[[], Coroutine[Any, Any, object]], begun: threading.Event) -> object:
    """Cancel who waits for a coroutine as soon as that says that it has begun; return what is returned all the same."""
    waiting = asyncio.ensure_future(awaited(called()))
    await asyncio.to_thread(begun.wait, 30)
    waiting.cancel()
    return await waiting


def test_a_function_that_cancels_itself_cancels_nobody_who_waits() -> None:
    """The worker goes on, and the cancellation is told as what the function raised."""

    async def itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async def worker() -> int:
        with pytest.raises(asyncio.CancelledError):
            await awaited(itself())
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert asyncio.run(worker()) == 0


def test_a_coroutine_that_raises_what_closes_one_ends_like_any_other() -> None:
    """`GeneratorExit` of its own is an error of the function; one that closes it stays what it is."""

    async def leaves() -> None:
        raise GeneratorExit

    with pytest.raises(RuntimeError, match="GeneratorExit"):
        asyncio.run(awaited(leaves()))


def test_who_is_cancelled_cancels_the_function() -> None:
    """It does not run on unseen."""
    begun, ended = threading.Event(), threading.Event()

    async def waits() -> None:
        try:
            begun.set()
            await asyncio.sleep(3600)
        finally:
            ended.set()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled_once_begun(waits, begun))
    assert ended.is_set()


def test_a_function_that_refuses_to_end_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither who waits for it nor the end of the run, as a bare `except` around each call would; nothing is said."""
    monkeypatch.setattr(coroutines, "GRACE_S", 0.05)
    is_over = threading.Event()

    async def refuses() -> None:
        while not is_over.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await awaited(refuses())

    asyncio.run(main())
    is_over.set()
    gc.collect()
    assert caplog.text == ""


def test_what_a_function_returns_when_it_is_cancelled_is_not_lost() -> None:
    """An answer that comes while it is ended may have been paid for."""
    begun = threading.Event()

    async def returns() -> str:
        try:
            begun.set()
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return "late"
        return "early"

    assert asyncio.run(cancelled_once_begun(returns, begun)) == "late"


def test_what_calls_share_belongs_to_one_loop() -> None:
    """A client with its connections is made by the first call, and used by those of the next command, too."""

    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    first = asyncio.run(awaited(loop()))
    assert asyncio.run(awaited(loop())) is first


def test_a_function_that_blocks_holds_up_no_work_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time-out holds, our loop goes on, and who waited in vain beside the function is told that something blocks."""
    monkeypatch.setattr(coroutines, "STALLED_S", 0.2)
    begun, is_over = threading.Event(), threading.Event()

    async def blocks() -> str:
        begun.set()
        is_over.wait(60)
        return "late"

    async def main() -> float:
        blocking = asyncio.ensure_future(awaited(blocks()))
        await asyncio.to_thread(begun.wait, 30)
        beside = asyncio.ensure_future(awaited(asyncio.sleep(0)))
        before = time.monotonic()
        await asyncio.sleep(0.6)
        waited_s = time.monotonic() - before
        beside.cancel()
        await asyncio.sleep(0)
        is_over.set()
        with pytest.raises(StalledError, match="no other one went on"):
            await beside
        assert await blocking == "late"
        return waited_s

    assert asyncio.run(main()) < 30
