"""What a statistic is: its name, its unit, its words and its formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from keval.ids import JsonObject

ScoreKey = tuple[str, str, str, str]
"""What the numbers of a condition are known by: the ids of condition, agent and judge, and the metric."""

Level = Literal["condition", "sample", "comparison"]
StatisticKind = Literal[
    "total",
    "total_or_null",
    "failed_by_kind",
    "score_or_null",
    "beyond_scale",
    "spread",
    "variance",
    "variance_estimate",
    "share_or_null",
    "correlation",
    "pass_k",
]
Unit = Literal[
    "tasks", "samples", "clusters", "responses", "judgments", "score", "score²", "share", "p", "draws", "comparisons",
    "conditions", "none",
]  # fmt: skip

VIEWS: Mapping[Level, str] = {
    "condition": "condition_scores",
    "sample": "sample_scores",
    "comparison": "comparisons",
}
"""The view whose columns a level's statistics are."""

BOTH: tuple[Level, ...] = ("condition", "sample")
CONDITION: tuple[Level, ...] = ("condition",)
COMPARISON: tuple[Level, ...] = ("comparison",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistic:
    """One number of a condition, of a sample of it, or of a comparison."""

    name: str
    levels: tuple[Level, ...]
    """Where it is defined; at other levels of the same event it is null."""
    kind: StatisticKind
    """What values it may have: a part of `schemas/parts.schema.json`."""
    unit: Unit
    label: str
    """What people call it. Statistics of one label share a row of a report."""
    description: str
    formula: str
    """In the notation of docs/statistics.md, with its source where it is not a plain count or mean."""
    why_null: Callable[[JsonObject], str] | None = None
    """Says why it is null in a row of numbers; None for one that never is."""
    null_when: str = ""
    """The same in general, for docs/statistics.md."""
    compute: Callable[[JsonObject], Any] | None = None
    """Computes it from the view's row; None where it is the view's column of that name."""
    required: bool = True
    """Whether every event must have it. One that came later is not: older logs have events without it."""
    of_combined: bool = False
    """Whether it is one of the metrics alone that are computed by the formula `combined`."""
    asked_by: str = ""
    """What of `keval.stats.asked.Asked` asks for it; empty for one that every event has."""
    shown: bool = True
    """Whether reports for people show it; events, `json` and `csv` have all."""

    def value(self, row: JsonObject) -> Any:  # noqa: ANN401 - a number, or counts by kind
        """Return the statistic of a row of its view; None at a level at which it is not defined.

        A row without a `level` is of a comparison.
        """
        level = row.get("level", "comparison")
        if ("condition" if level == "group" else level) not in self.levels:
            return None
        return row[self.name] if self.compute is None else self.compute(row)


def table(rows: Iterable[Statistic]) -> Mapping[str, Statistic]:
    """Return statistics by their names, in their order."""
    return {row.name: row for row in rows}
