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
