"""Whether something that failed is tried again, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from keval.errors import ItemError


@dataclass(frozen=True, slots=True)
class Retry:
    """What happens when an attempt fails for a reason that may pass."""

    max_attempts: int = 3
    initial_backoff_s: float = 1
    backoff_multiplier: float = 2


@dataclass(frozen=True, slots=True)
class Failed:
    """Why an attempt failed, and whether another is worth it; as in `ItemError`."""

    kind: str
    message: str
    retryable: bool = False
    retry_after_s: float | None = None
    overloaded: bool = False

    @classmethod
    def of(cls, error: ItemError) -> Failed:
        """Return what an error says, as data."""
        return cls(error.kind, error.message, error.retryable, error.retry_after_s, error.overloaded)
