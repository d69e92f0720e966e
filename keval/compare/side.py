"""One of the logs that are compared, with its own report."""

from __future__ import annotations

from dataclasses import dataclass

from keval.reports.model import HouseScore, Report
from keval.stats.declared import Declared


@dataclass(frozen=True, slots=True)
class Side:
    """One of the logs: its number, what it is called, and its own report."""

    number: int
    label: str
    report: Report
    declared: Declared
    """Which metrics are primary, and which difference matters."""
    house_scores: tuple[HouseScore, ...] = ()
    """Those of its conditions, where they were asked for."""
    has_stopped: bool = False
    """Whether its run stopped when decided, by comparisons of its own."""
    asking_models: frozenset[str] = frozenset()
    """The ids of those judges of its metrics that ask a model."""

    def named(self, condition: str) -> str:
        """Return what a condition of the log is called beside those of others."""
        return f"{condition} in {self.label}"
