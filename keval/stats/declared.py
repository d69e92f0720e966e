"""What a config declares before anybody has seen a number: which metrics are primary, and which difference matters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from keval.ids import JsonObject
from keval.metric_names import names
from keval.projections import rows
from keval.projections.sql_file import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FIVE_POINTS = (1, 5)
"""The scale of metrics that are primary unless the config names others."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The section `comparison` of a config."""

    primary: Collection[str] = ()
    """Metrics by name, or as JUDGE/METRIC; none: all on the scale from 1 to 5, or all if there is none."""
    margin: float | Mapping[str, float] | None = None
    """The smallest difference that matters, of all metrics or by metric."""

    def margin_of(self, row: JsonObject) -> float | None:
        """Return the margin of a row of the view `comparisons`."""
        if isinstance(self.margin, Mapping):
            return next((float(self.margin[name]) for name in _names(row) if name in self.margin), None)
        return None if self.margin is None else float(self.margin)

    def primary_of(self, found: Collection[JsonObject]) -> list[JsonObject]:
        """Return those of the rows that are of a primary metric: they are one family of tests."""
        if self.primary:
            return [row for row in found if not set(_names(row)).isdisjoint(self.primary)]
        five = [row for row in found if (row["min"], row["max"]) == FIVE_POINTS]
        return five or list(found)


def _names(row: JsonObject) -> Sequence[str]:
    return names(row["metric"], row["judge"])[::-1]


def declared(connection: DuckDBPyConnection) -> Declared:
    """Return what the config of a log's newest run declares."""
    for row in rows(connection, load("projections", "declared_comparison")):
        section = orjson.loads(row["comparison"] or "null")
        if isinstance(section, dict):  # a log's config may be of another version
            return Declared(tuple(section.get("primary") or ()), section.get("margin"))
    return Declared()
