"""Asks of three conditions or more whether any of them differs from the others: Friedman's test, by ranks.

It says that something differs, not what: that say the comparisons, whose p are adjusted for their number. Sources:
Friedman 1937; Conover 1999, section 5.8 (ties); Kendall and Babington Smith 1939 (W).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FEWEST_CONDITIONS = 3
"""Of two, the comparison itself is the test."""

FEWEST_SAMPLES = 2
"""Ranks of one sample are no more than its order."""


@dataclass(frozen=True, slots=True)
class Friedman:
    """What the test says of one metric."""

    conditions: int
    """How many conditions have a value; at fewer than three there is no test."""
    samples: int = 0
    """How many samples have a value under all of them."""
    chi2: float | None = None
    """Null where no sample has two values, or there are too few of them."""

    @property
    def p(self) -> float | None:
        """The share of chi-square's distribution, with k - 1 degrees of freedom, that lies beyond."""
        from scipy.special import chdtrc

        return None if self.chi2 is None else float(chdtrc(self.conditions - 1, self.chi2))

    @property
    def kendall_w(self) -> float | None:
        """How far the samples agree about the order of the conditions: 0 not at all, 1 fully."""
        return None if self.chi2 is None else min(1.0, self.chi2 / (self.samples * (self.conditions - 1)))


def friedman(connection: DuckDBPyConnection) -> Mapping[tuple[str, str, str], Friedman]:
    """Return the test of each metric by the ids of agent and judge and its name; of one without a value there is none.

    See friedman.sql.
    """
    found = rows(connection, load("stats", "friedman", fewest=str(FEWEST_CONDITIONS)))
    tests = {(row["agent_id"], row["judge_id"], row["metric"]): _friedman(row) for row in found}
    return defaultdict(lambda: Friedman(0), tests)


def friedman_of(row: JsonObject) -> Friedman:
    """Return the test that a comparison's row has; of samples that belong together there is none."""
    found: Friedman = row["friedman"]
    return found if row["n_clusters"] is None else replace(found, chi2=None)


def _friedman(row: JsonObject) -> Friedman:
    enough = row["n"] >= FEWEST_SAMPLES
    return Friedman(row["k"], row["n"], max(row["chi2"], 0.0) if enough and row["chi2"] is not None else None)
