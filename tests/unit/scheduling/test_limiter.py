from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from keval.retry import Failed, Retry
from keval.scheduling.limiter import Limiter
from tests import virtual_time

OVERLOADED = Failed("infra_error", "429", retryable=True, overloaded=True)
TURNS = 10
"""Turns of the event loop in which everything happens that needs no time."""


class Resumed:
    """Awaits something, and counts how often it was resumed for it."""

    def __init__(self, awaited: Awaitable[Any]) -> None:
        self._awaited = awaited
        self.times = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._awaited.__await__()
        while True:
            try:
                waited_for = next(inner)
            except StopIteration as done:
                return done.value
            yield waited_for
            self.times += 1


async def settle() -> None:
    """Let everything happen that needs no time."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


def test_a_place_that_falls_free_wakes_one_waiter() -> None:
    """However many wait: of 300 items 290 wait for one of ten places, and each is resumed once for it."""
    resumed: list[int] = []

    async def item(limiter: Limiter) -> None:
        entering = Resumed(limiter.slot())
        with await entering as slot:
            resumed.append(entering.times)
            await asyncio.sleep(0.2)
            slot.ended(None)

    async def main() -> None:
        limiter = Limiter(10, Retry())
        await asyncio.gather(*(item(limiter) for _ in range(300)))

    virtual_time.run(main())
    assert resumed == [0] * 10 + [1] * 290


def test_who_is_held_back_is_told_why() -> None:
    """Nothing moves for half a minute, and people see why, and that it will go on."""

    async def main(at_once: int, failed: Failed, told: str) -> None:
        limiter = Limiter(at_once, Retry())
        holders = [Holder(limiter) for _ in range(at_once + 1)]
        await settle()
        assert limiter.remark == ""  # one waits, for its turn alone
        holders[0].leave(failed)
        await asyncio.sleep(5)
        assert limiter.remark == told
        for holder in holders:
            holder.task.cancel()
        await settle()

    virtual_time.run(main(10, OVERLOADED, "too many at once, now about 8 of 10"))
    virtual_time.run(main(1, replace(OVERLOADED, retry_after_s=30), "too many at once, goes on in 25 s"))


def test_a_place_given_to_somebody_who_is_cancelled_in_that_moment_goes_to_the_next() -> None:
    """No place is lost between two items."""

    async def main() -> None:
        limiter = Limiter(1, Retry())
        first, second, third = (Holder(limiter) for _ in range(3))
        await settle()
        first.leave(None)
        await asyncio.sleep(0)  # the first gives its place back; the second has it, and has not heard of it
        second.task.cancel()
        await settle()
        assert second.task.cancelled()
        assert third.holds
        third.leave(None)
        await third.task
        assert limiter.running == 0

    virtual_time.run(main())


def test_a_run_that_is_stopped_waits_for_no_service() -> None:
    """Whoever waits for a place passes at once, although the service wants to be left alone for minutes."""

    async def main() -> None:
        stop = asyncio.Event()
        limiter = Limiter(1, Retry())
        with limiter.open_after(stop):
            refused = Holder(limiter)
            await settle()
            refused.leave(Failed("infra_error", "429", retryable=True, overloaded=True, retry_after_s=100))
            waiting = [Holder(limiter) for _ in range(5)]
            await settle()
            assert not any(holder.holds for holder in waiting)
            stop.set()
            await settle()
            assert all(holder.holds for holder in waiting)
            for holder in waiting:
                holder.leave(None)
            await asyncio.gather(*(holder.task for holder in waiting))

    virtual_time.run(main())


def test_a_service_that_takes_nothing_is_left_alone_for_longer_each_time() -> None:
    """The waits between single attempts double up to half a minute, and are what the service asks for if that is more.

    The first success ends that.
    """
    outcomes = [OVERLOADED] * 7 + [Failed("infra_error", "429", retryable=True, overloaded=True, retry_after_s=50)]
    began_s: list[float] = []

    async def main() -> None:
        limiter = Limiter(100, Retry())
        for failed in [*outcomes, None, None]:
            with await limiter.slot() as slot:
                began_s.append(asyncio.get_running_loop().time())
                slot.ended(failed)

    virtual_time.run(main())
    waits = [round(later - earlier) for earlier, later in itertools.pairwise(began_s)]
    assert waits == [1, 2, 4, 8, 16, 30, 30, 50, 0]


def test_a_service_that_takes_nothing_is_asked_again_within_half_a_minute_however_long_its_answers_take() -> None:
    """The time between two starts, which grows with that of an answer, does not prolong an outage."""
    began_s: list[float] = []

    async def main() -> None:
        limiter = Limiter(2, Retry())
        for duration_s, failed in [*[(300, None)] * 5, *[(1, OVERLOADED)] * 3]:
            with await limiter.slot() as slot:
                began_s.append(asyncio.get_running_loop().time())
                await asyncio.sleep(duration_s)
                slot.ended(failed)
        (await limiter.slot()).ended(None)
        began_s.append(asyncio.get_running_loop().time())

    virtual_time.run(main())
    waits = [round(later - earlier) for earlier, later in itertools.pairwise(began_s[5:])]
    assert waits == [2, 31, 31]


def test_whether_a_service_takes_more_is_asked_with_the_item_that_was_refused_least() -> None:
    """It waits behind others: a place that the service is known to have goes to the first, one more to the freshest."""

    async def main() -> tuple[list[str], list[str]]:
        limiter = Limiter(3, Retry())
        limiter.concurrency.known = limiter.concurrency.allowed = 1
        first = Holder(limiter)
        await settle()
        waiting = {name: Holder(limiter, attempts) for name, attempts in (("old", 2), ("older", 2), ("fresh", 0))}
        await settle()
        limiter.concurrency.allowed = 2
        first.leave(None)
        await settle()
        hold = [name for name, holder in waiting.items() if holder.holds]
        waiting["fresh"].leave(None)
        await settle()
        later = [name for name, holder in waiting.items() if holder.holds]
        for holder in waiting.values():
            holder.leave(None)
        await asyncio.gather(*(holder.task for holder in waiting.values()))
        return hold, later

    assert virtual_time.run(main()) == (["old", "fresh"], ["old", "older"])


class Holder:
    """An item that waits for its place, holds it, and gives it back when told."""

    def __init__(self, limiter: Limiter, attempts: int = 0) -> None:
        self.holds = False
        self._end = asyncio.Event()
        self._failed: Failed | None = None
        self.task = asyncio.ensure_future(self._hold(limiter, attempts))

    async def _hold(self, limiter: Limiter, attempts: int) -> None:
        with await limiter.slot(attempts) as slot:
            self.holds = True
            try:
                await self._end.wait()
                slot.ended(self._failed)
            finally:
                self.holds = False

    def leave(self, failed: Failed | None) -> None:
        """End, and tell what came of the attempt."""
        self._failed = failed
        self._end.set()


class Places(RuleBasedStateMachine):
    """Items come, go, fail and are cancelled at any moment; the limiter loses none of its places and forgets nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = virtual_time.VirtualTimeLoop()
        self.limiter = self.loop.run_until_complete(self.new_limiter())
        self.holders: list[Holder] = []

    async def new_limiter(self) -> Limiter:
        return Limiter(4, Retry(initial_backoff_s=1))

    def do(self, *acts: Callable[[], object], turns: int = 0) -> None:
        """Do one thing after another, so many turns of the loop apart, and let happen what follows."""

        async def main() -> None:
            for act in acts:
                act()
                for _ in range(turns):
                    await asyncio.sleep(0)
            await settle()

        self.loop.run_until_complete(main())
        self.holders = [holder for holder in self.holders if not holder.task.done()]

    def any_holder(self, data: st.DataObject) -> Holder:
        return data.draw(st.sampled_from(self.holders))

    @rule(number=st.integers(1, 6))
    def come(self, number: int) -> None:
        self.do(*[lambda: self.holders.append(Holder(self.limiter))] * number)

    @precondition(lambda self: self.holders)
    @rule(data=st.data(), failed=st.sampled_from([None, OVERLOADED]))
    def leave(self, data: st.DataObject, failed: Failed | None) -> None:
        holder = self.any_holder(data)
        self.do(lambda: holder.leave(failed))

    @precondition(lambda self: self.holders)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.do(self.any_holder(data).task.cancel)

    @precondition(lambda self: self.limiter.running < len(self.holders))
    @rule(data=st.data(), turns=st.integers(0, 2))
    def leave_and_cancel_who_is_next(self, data: st.DataObject, turns: int) -> None:
        leaving = data.draw(st.sampled_from([holder for holder in self.holders if holder.holds] or self.holders))
        following = next(holder for holder in self.holders if not holder.holds)
        self.do(lambda: leaving.leave(None), following.task.cancel, turns=turns)

    @rule(seconds=st.floats(0, 40))
    def wait(self, seconds: float) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))
        self.do()

    @invariant()
    def every_place_is_held(self) -> None:
        """Hold the limiter to what it counts: no place is lost, and none is given twice."""
        held = sum(holder.holds for holder in self.holders)
        assert self.limiter.running == held <= 4

    @invariant()
    def who_came_first_is_served_first(self) -> None:
        """Let nobody hold a place who came after somebody who waits."""
        holds = [holder.holds for holder in self.holders]
        assert holds == sorted(holds, reverse=True)

    def teardown(self) -> None:
        """After a while without refusals everybody has had a place: nobody was forgotten."""
        for holder in self.holders:
            holder.leave(None)
        self.loop.run_until_complete(asyncio.sleep(1000))
        forgotten = [holder for holder in self.holders if not holder.task.done()]
        for holder in forgotten:
            holder.task.cancel()
        self.loop.run_until_complete(settle())
        self.loop.close()
        assert not forgotten
        assert self.limiter.running == 0


TestPlaces = Places.TestCase
