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
from keval.processes.coroutines import awaited


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
    """A time-out holds and our loop goes on, and it is known that those of the user's did not."""
    monkeypatch.setattr(coroutines, "STALLED_S", 0.2)
    begun, is_over = threading.Event(), threading.Event()

    async def blocks() -> str:
        begun.set()
        is_over.wait(60)
        return "late"

    async def main() -> None:
        began_s = time.monotonic()
        blocking = asyncio.ensure_future(awaited(blocks()))
        await asyncio.to_thread(begun.wait, 30)
        beside = asyncio.ensure_future(awaited(asyncio.sleep(0)))
        await asyncio.sleep(0.6)
        assert coroutines.stood_still(began_s)
        beside.cancel()
        await asyncio.sleep(0)
        is_over.set()
        with pytest.raises(asyncio.CancelledError):
            await beside
        assert await blocking == "late"
        assert coroutines.stood_still(began_s), "so it did, though it goes on now"

    asyncio.run(main())


@pytest.mark.slow
def test_a_loop_that_goes_on_never_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is a little late: a time-out of a function that only takes long is its own."""
    monkeypatch.setattr(coroutines, "_BEAT_S", 0.001)
    monkeypatch.setattr(coroutines, "STALLED_S", 2.0)  # no test machine stands still for so long
    began_s = time.monotonic()

    async def is_a_little_late() -> None:
        for _ in range(24):
            time.sleep(0.1)  # noqa: ASYNC251 - what is tested
            await asyncio.sleep(0)

    asyncio.run(awaited(is_a_little_late()))
    assert not coroutines.stood_still(began_s)


@pytest.mark.parametrize("ends", ["exits", "stops"])
def test_what_ends_the_loop_ends_its_own_call_alone(ends: str) -> None:
    """A task of the user's that calls `sys.exit`, or stops the loop, leaves it to those that come later."""

    async def helper() -> None:
        if ends == "exits":
            raise SystemExit(3)
        asyncio.get_running_loop().stop()

    async def calls() -> None:
        await asyncio.gather(helper())

    async def fine() -> str:
        return "fine"

    if ends == "exits":
        with pytest.raises(RuntimeError, match="SystemExit: 3"):
            asyncio.run(awaited(calls()))
    else:
        asyncio.run(awaited(calls()))
    assert asyncio.run(awaited(fine())) == "fine"


def test_what_fails_after_nobody_waits_is_told_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its time-out was told, and at the end Python has nothing to say of it."""
    monkeypatch.setattr(coroutines, "GRACE_S", 0.05)
    is_left = threading.Event()

    async def fails() -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.to_thread(is_left.wait, 30)
            raise ValueError from None

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await awaited(fails())
        is_left.set()
        await asyncio.sleep(0.2)

    asyncio.run(main())
    gc.collect()
    assert caplog.text == ""


def test_what_runs_on_has_its_clean_up_at_the_end() -> None:
    """A task that a function left behind, such as one that sends traces, is cancelled as its loop's end would do it."""
    ended = threading.Event()
    kept = []

    async def background() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    async def begins() -> None:
        kept.append(asyncio.create_task(background()))
        await asyncio.sleep(0)

    asyncio.run(awaited(begins()))
    assert not ended.is_set()
    coroutines.end_all()
    assert ended.is_set()
