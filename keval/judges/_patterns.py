r"""Regular expressions that others wrote, under a time limit: some take longer than anybody waits, on a text that fits.

They have the syntax of the package `regex`: that of Python's `re` and more, such as `\p{Lu}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from keval.judges._judgment import JudgeError

if TYPE_CHECKING:
    import regex

LIMIT_S = 2.0
"""Seconds that one search may take."""

T = TypeVar("T")


def compiled(pattern: str) -> regex.Pattern[str]:
    """Return a pattern that can be looked for. Raises ValueError for a text that is none."""
    import regex

    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error


def is_in(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text. Raises ValueError, and TimeoutError; see `limited`."""
    return compiled(pattern).search(text, concurrent=True, timeout=LIMIT_S) is not None


async def limited(search: Callable[[], T]) -> T:
    """Return what a function finds that looks for patterns; other work goes on. Raises JudgeError if it takes too long.

    It must give each search `timeout=LIMIT_S`, and `concurrent=True`, without which nothing else runs.
    """
    try:
        return await asyncio.to_thread(search)
    except TimeoutError as error:
        raise JudgeError(
            "judge_error",
            f"a regular expression took longer than {LIMIT_S:g} s; repeats within repeats, as in (a+)+, do that",
        ) from error
