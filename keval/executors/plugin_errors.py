"""What the code of a plug-in may raise: whatever it is, it is about one item."""

from __future__ import annotations

import asyncio

FOREIGN = (Exception, asyncio.CancelledError, SystemExit, GeneratorExit)
"""To be caught around a call of a plug-in; see `is_cancelled_by_us`."""


def is_cancelled_by_us(error: BaseException) -> bool:
    """Return whether keval itself cancels the running task, rather than the plug-in's own code."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0
