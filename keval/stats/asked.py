"""What a user asks for beside the numbers that every `aggregate` event has: each takes time, or scipy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """What to compute beside means, variances and their intervals."""

    full: bool = False
    """Chances to pass k trials, and the interval of the judgments' variance."""
    ks: tuple[int, ...] = ()
    """Which k; empty: 1, and as many as there are repetitions."""
    verdicts: str | None = None
    """The query for verdicts, with scores that pass as the user names them; None: as the judges and the log say."""
    exact: bool = False
    """Clopper and Pearson's interval in the place of Wilson's."""
    bootstrap: bool = False
    """Intervals by resampling samples, beside the others."""
    seed: int = 0
    """Of the resampling."""
    friedman: bool = False
    """Beside each comparison the test whether any of three conditions or more differs."""
    by: tuple[str, ...] = ()
    """Fields of the samples: numbers of each group of samples whose values are the same."""

    def has(self, name: str) -> bool:
        """Return whether a statistic is to be there that is `asked_by` this; by nothing: always."""
        return not name or bool(getattr(self, name))


NOTHING = Asked()
"""What a report needs."""
