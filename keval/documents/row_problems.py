"""Collects what is wrong with the rows of a file, and says once what is wrong in many of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from keval.counted import counted

MOST_PRINTED = 20
"""Problems that an error lists before it only counts the rest."""


@dataclass
class RowProblems:
    """What is wrong with the rows of a file, in the order in which it was found first."""

    found: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """Where each problem was found first, what was said of it there, and in how many rows it is."""
    number_of_others: int = 0
    """Problems beyond the limit, which are only counted."""

    def __len__(self) -> int:
        """Return how many problems there are, one for all rows that have it."""
        return len(self.found) + self.number_of_others

    def add(self, where: str, message: str, alike: str | None = None) -> None:
        """Take a problem of the file or of a row; what is wrong in many rows is one problem.

        `alike` stands for all messages that say the same of other rows, if they differ in their words.
        """
        key = alike or message
        if key in self.found or len(self.found) < MOST_PRINTED:
            first, said, times = self.found.get(key, (where, message, 0))
            self.found[key] = (first, said, times + 1)
        else:
            self.number_of_others += 1

    def told(self) -> Iterator[str]:
        """Yield the problems in words."""
        for first, message, times in self.found.values():
            others = f" and {counted(times - 1, 'more row')}" if times > 1 else ""
            yield f"{first}{others}: {message}"
        if self.number_of_others:
            yield f"… and {self.number_of_others:,} more"
