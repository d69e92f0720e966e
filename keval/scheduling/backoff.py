"""How long to wait before another attempt, and what ends such a wait."""

from __future__ import annotations

import asyncio
import random

from keval.retry import Failed, Retry

LONGEST_BACKOFF_S = 120.0
"""No wait between two attempts is longer, whatever the service asks for."""


def backoff_s(retry: Retry, failed_attempts: int) -> float:
    """Return the wait after that many failed attempts, without jitter: initial · multiplier^(n−1)."""
    return min(retry.initial_backoff_s * retry.backoff_multiplier ** (failed_attempts - 1), LONGEST_BACKOFF_S)


async def pause(retry: Retry, failed_attempts: int, failed: Failed | None, *stops: asyncio.Event) -> None:
    """Wait before another attempt, or until one of `stops` is set.

    A wait is between half and the whole backoff, and at least what the service asked for.
    """
    wait_s = backoff_s(retry, failed_attempts) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
    asked_s = failed.retry_after_s if failed else None
    await any_set(*stops, within_s=min(max(wait_s, asked_s or 0.0), LONGEST_BACKOFF_S))


async def any_set(*events: asyncio.Event, within_s: float | None = None) -> None:
    """Wait until one of some events is set, or so many seconds at most."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
