"""Reads long answers beside other work: what a judge looks for in one may take seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

LONG = 20_000
"""Characters that are read at once; of a longer text other answers and time-outs would have to wait for it."""

_READER = ThreadPoolExecutor(1, "keval-reads")
"""One thread: several would be no quicker, and at the end each would be waited for. What waits can be cancelled."""

T = TypeVar("T")


async def found_in(text: str, look: Callable[[str], T]) -> T:
    """Return what a function finds in a text; in a long one it looks in a thread of its own."""
    return look(text) if len(text) <= LONG else await asyncio.get_running_loop().run_in_executor(_READER, look, text)
