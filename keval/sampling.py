"""Chooses a stable share of all tasks: for a judge that is too expensive to judge each response.

The draw is a hash of the sample, the repetition and a seed. So the same share is chosen after a resume, in every
condition (which keeps comparisons paired), and whatever samples are added; a larger share has all of a smaller one.
SQL draws the same: see `keval/projections/in_share.sql`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from keval.ids import JsonObject

DIGITS = 13
"""Hex digits of a draw: 52 bits, which a float holds exactly."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """A share of all tasks."""

    rate: float = 1.0
    """Above 0, and at most 1, which is all."""
    seed: int = 0

    @property
    def below(self) -> str | None:
        """The hex digits that the draw of a task in the share is below; None of a share of all."""
        return None if self.rate >= 1 else f"{int(self.rate * 16**DIGITS):0{DIGITS}x}"

    def has(self, sample_id: str, repetition: int) -> bool:
        """Return whether a task is in the share."""
        if self.below is None:
            return True
        return hashlib.sha256(f"{self.seed} {repetition} {sample_id}".encode()).hexdigest()[:DIGITS] < self.below

    def as_event_field(self) -> JsonObject:
        """Return the share as a judge's entry in a `run` event holds it: of a judge of all tasks, not at all."""
        return {} if self.rate >= 1 else {"sampling": {"rate": self.rate, "seed": self.seed}}

    def of(self, number: int) -> int:
        """Return how many of so many tasks are to be expected in the share."""
        return number if self.rate >= 1 else round(number * self.rate)


ALL = Sampling()
