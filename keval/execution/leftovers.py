"""Ends what commands and their tasks leave running: it may cost money, and nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from keval.errors import Warn
from keval.processes import coroutines, tree
from keval.scheduling import interrupt


async def end_orphans(log: Path | None, warn: Warn) -> None:
    """End what an earlier command for the same log, which was killed, left running: it may cost money."""
    names = await tree.end_orphans(tree.log_mark(log)) if log else []
    if names:
        warn(f"{log}: ended what an earlier command that was killed had left running: {', '.join(names)}")


def leaving_nothing(main: Callable[[asyncio.Event], Awaitable[None]], warn: Warn) -> None:
    """Run a command's work; however that ends, end what its tasks have left running without a mark."""
    tree.adopt_orphans()

    async def to_the_end(stop: asyncio.Event) -> None:
        try:
            await main(stop)
        finally:
            await tree.to_the_end(_end_unmarked(warn))

    try:
        interrupt.run(to_the_end, warn)
    finally:
        coroutines.end_all()


async def _end_unmarked(warn: Warn) -> None:
    """End what tasks left behind of which nobody can tell whose it was, and name it. For the end of a run."""
    names = await tree.end_unmarked()
    if names:
        warn(f"ended what tasks had left running, unmarked, so that no event names it: {', '.join(names)}")
