"""A judge that reads a long answer does not hold up the others."""

from __future__ import annotations

import asyncio
import threading

import pytest

from keval.judges import Judge
from keval.judges._long_texts import LONG, found_in
from keval.judges.choice import Choice
from keval.judges.number import NumberJudge
from tests.cases import case, context


@pytest.mark.parametrize(("text", "is_beside"), [("a" * LONG, False), ("a" * (LONG + 1), True)])
def test_a_long_text_is_read_in_a_thread_of_its_own(text: str, *, is_beside: bool) -> None:
    """For a short one that would take longer than to read it."""

    def look(given: str) -> bool:
        assert given == text
        return threading.current_thread() is not threading.main_thread()

    assert asyncio.run(found_in(text, look)) is is_beside


@pytest.mark.parametrize(("judge", "golden", "marks"), [(NumberJudge(), "7", 50_000), (Choice(), "B", 5_000)])
def test_other_work_goes_on_while_a_judge_reads(judge: Judge, golden: str, marks: int) -> None:
    """The event loop has turns meanwhile; what is found at the end of a long answer is the same."""

    async def judged() -> tuple[bool | None, int]:
        answer = "#### " * marks + f"The answer is {golden}."
        judging = asyncio.create_task(judge.judge(case(answer, golden), context(judge)))
        turns = 0
        while not judging.done():
            await asyncio.sleep(0)
            turns += 1
        (score,) = judging.result().scores.values()
        return score.passed, turns

    passed, turns = asyncio.run(judged())
    assert passed
    assert turns > 3


async def test_what_waits_for_the_thread_is_given_up_with_its_task() -> None:
    """Ctrl-C twice waits for one text at most, however many judges have one to read."""
    began, goes_on, looked_at = threading.Event(), threading.Event(), []

    def look(text: str) -> None:
        looked_at.append(text[0])
        began.set()
        goes_on.wait()

    tasks = [asyncio.create_task(found_in(name * (LONG + 1), look)) for name in "abc"]
    await asyncio.to_thread(began.wait)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    goes_on.set()
    await found_in("d" * (LONG + 1), look)
    assert looked_at == ["a", "d"]
