"""Completes the row of a condition with what SQL does not compute: intervals, and chances to pass k trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.stats import bootstrap
from keval.stats.asked import Asked
from keval.stats.condition_passes import Passes, pass_k, passes
from keval.stats.mean_intervals import mean_interval
from keval.stats.statistic import ScoreKey
from keval.stats.variance_intervals import icc_interval, variance_interval

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Completion:
    """What was asked for, and what it is computed from."""

    asked: Asked
    passes: Mapping[ScoreKey, Passes] = field(default_factory=dict)
    samples: Mapping[ScoreKey, Sequence[JsonObject]] = field(default_factory=dict)

    def of(self, row: JsonObject) -> JsonObject:
        """Return a row of `condition_scores` with all that its statistics are computed from."""
        row = {**row, "interval": mean_interval(row, exact=self.asked.exact)}
        key = (row["condition_id"], row["agent_id"], row["judge_id"], row["metric"])
        if self.asked.full:
            found = self.passes.get(key, Passes())
            row["pass_k"] = pass_k(found, self.asked.ks, row["untried"], exact=self.asked.exact)
            row["no_pass_k"] = found.why_none(row["untried"])
            row["judgment_interval"] = variance_interval(row["var_judgment"], row["df_judgment"])
            row["icc_interval"] = icc_interval(row)
        return row | (self._resampled(row, self.samples.get(key, ())) if self.asked.bootstrap else {})

    def _resampled(self, row: JsonObject, samples: Sequence[JsonObject]) -> JsonObject:
        """Return intervals by resampling, and why there are none."""
        seed, bca, between, within = self.asked.seed, bootstrap.NONE, bootstrap.NONE, bootstrap.NONE
        clusters = [sample["cluster"] for sample in samples] if row["has_clusters"] else None
        few = bootstrap.why_none(len(samples))
        reason = few or (None if clusters is None else _why_no_clusters(clusters))
        if reason is None:
            bca = bootstrap.mean_interval([sample["mean"] for sample in samples], clusters, seed)
            reason = "all samples have the same mean" if bca == bootstrap.NONE else None
        # The agent's failures are in the mean, and in no component.
        few = few or bootstrap.why_none(sum(bool(sample["weight"]) for sample in samples), "samples with a score")
        if few is None:
            between, within = bootstrap.component_intervals(samples, seed)
        return {"bca": bca, "no_bca": reason, "between": between, "within": within, "no_components": few, "seed": seed}


def _why_no_clusters(clusters: Sequence[str | None]) -> str | None:
    return "a sample has no cluster" if None in clusters else bootstrap.why_none(len(set(clusters)), "clusters")


def completion(connection: DuckDBPyConnection, asked: Asked) -> Completion:
    """Ask the views what is needed for what was asked for."""
    return Completion(
        asked,
        passes(connection, asked.verdicts) if asked.full else {},
        bootstrap.sample_values(connection) if asked.bootstrap else {},
    )
