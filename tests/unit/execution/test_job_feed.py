from __future__ import annotations

import asyncio
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from keval.execution.job_feed import ROOM, JobFeed
from keval.preparation.jobs import Job
from tests.jobs import job


async def bring(feed: JobFeed, *brought: Job) -> None:
    """Bring jobs as one who waits where there is no room."""
    if (rest := feed.put(brought)) is not None:
        await rest


async def taken(feed: JobFeed) -> str | None:
    """Take the next job and return its id."""
    job = await feed.take()
    return job and job.judgment_id


@given(new=st.integers(0, 5), left=st.integers(0, 5), taken_first=st.integers(0, 3))
def test_each_job_is_brought_once(new: int, left: int, taken_first: int) -> None:
    """Those of new responses and those of the backlog, whenever they come, until the feed is closed."""

    async def main() -> list[str]:
        feed = JobFeed(job(f"left{number}") for number in range(left))
        taken: list[str] = []

        async def take() -> None:
            while (taking := await feed.take()) is not None:
                taken.append(taking.judgment_id)

        taking = asyncio.create_task(take())
        for _ in range(taken_first):
            await asyncio.sleep(0)
        for number in range(new):
            await bring(feed, job(f"new{number}"))
        feed.close()
        await taking
        return taken

    taken = asyncio.run(main())
    assert sorted(taken) == sorted([*(f"left{n}" for n in range(left)), *(f"new{n}" for n in range(new))])


async def test_a_new_response_is_judged_before_what_is_left_of_earlier_runs() -> None:
    """Nobody waits for the backlog, which is not even read before somebody has time for it."""
    read: list[str] = []

    def backlog() -> Iterator[Job]:
        for name in ("left1", "left2", "left3"):
            read.append(name)
            yield job(name)

    feed = JobFeed(backlog())
    assert await taken(feed) == "left1"
    await bring(feed, job("new"))
    assert read == ["left1"]
    assert await taken(feed) == "new"
    feed.close()
    assert [await taken(feed) for _ in range(3)] == ["left2", "left3", None]


async def test_a_full_feed_makes_its_producer_wait_until_jobs_are_taken_or_discarded() -> None:
    """At most so many jobs wait; after a stop nobody takes them, and they are discarded."""
    feed = JobFeed()

    async def bring_many() -> None:
        for number in range(3 * ROOM):
            await bring(feed, job(str(number)))
        feed.close()

    bringing = asyncio.create_task(bring_many())
    for _ in range(2 * ROOM):
        await asyncio.sleep(0)
    assert not bringing.done()
    await asyncio.wait_for(feed.drain(), 10)
    await bringing


async def test_more_who_take_than_there_is_room_leave_nobody_waiting_who_brings() -> None:
    """A job that goes to somebody who waits for it takes no room: whoever waits to bring one goes on."""
    feed, many = JobFeed(), 3 * ROOM
    bringing = [asyncio.create_task(bring(feed, job(str(number)))) for number in range(many)]
    await asyncio.sleep(0)
    taking = [asyncio.create_task(taken(feed)) for _ in range(many)]
    done, _ = await asyncio.wait({*bringing, *taking}, timeout=10)
    feed.close()
    assert len(done) == 2 * many
    assert sorted(task.result() or "" for task in taking) == sorted(map(str, range(many)))
