"""How often something is tried again when it fails for a reason that may pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retry:
    """What happens when an attempt fails for a reason that may pass."""

    max_attempts: int = 3
    initial_backoff_s: float = 1
    backoff_multiplier: float = 2
