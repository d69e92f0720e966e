"""Reads how often a judge is wrong from another log's calibration, and corrects pass rates by it.

A calibration is of one judge, by its id: another model, rubric or parameter makes it stale, and it is not used then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import orjson

from keval.errors import InputError
from keval.ids import JsonObject
from keval.stats.aggregates import rounded
from keval.stats.intervals import FEWEST_SAMPLES
from keval.stats.proportions import Share, effective_number
from keval.stats.reasons import few_clusters
from keval.stats.rogan_gladen import BEYOND, CHANCE, FEW_LABELS, ErrorRates, really_passing

NAMES = ("specificity", "sensitivity", "failing", "passing")


@dataclass(frozen=True, slots=True)
class ForeignCalibration:
    """Error rates of judges from elsewhere."""

    for_all: ErrorRates | None = None
    """Given by the user for whatever judge."""
    by_judge: Mapping[tuple[str, str], ErrorRates] = field(default_factory=dict)
    """By judge_id and metric."""
    names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The judge_ids by the judge's name and metric."""

    def of(self, judge: str, judge_id: str, metric: str) -> tuple[ErrorRates | None, str | None]:
        """Return a judge's error rates, or why there are none."""
        found = self.for_all or self.by_judge.get((judge_id, metric))
        if found is not None:
            return found, None
        other = self.names.get((judge, metric))
        if other is None:
            return None, "the calibration says nothing of this judge and metric"
        return None, f"stale: the calibration is of another version of the judge, {other[:8]}, this is {judge_id[:8]}"


class PassShare(NamedTuple):
    """What the verdicts about one sample's answers come to."""

    passes: float
    """The share of them that are passes."""
    verdicts: int
    cluster: str | None = None
    """What the sample has in common with those that belong to it; None if it has nothing, or nobody asks."""
    is_clustered: bool = False
    """Whether the config names a field for that."""


@dataclass(frozen=True, slots=True)
class RatesCorrection:
    """A pass rate corrected by error rates from elsewhere."""

    pass_rate: float | None
    number: float | None
    """With how many independent answers the samples' pass rates vary as they do."""
    rates: ErrorRates | None
    corrected: float | None
    ci_lower: float | None
    ci_upper: float | None
    reason: str | None

    def as_json(self) -> JsonObject:
        """Return it as one JSON object; what is not known is null, with a reason."""
        numbers = ("pass_rate", "number", "corrected", "ci_lower", "ci_upper")
        rates = None if self.rates is None else rates_as_json(self.rates)
        return {**{name: rounded(getattr(self, name)) for name in numbers}, "rates": rates, "reason": self.reason}


def corrected_by(rates: ErrorRates | None, reason: str | None, shares: Mapping[str, PassShare]) -> RatesCorrection:
    """Return a pass rate corrected by error rates; `shares` has each sample's.

    Where it is not known which samples belong together, there is no interval.
    """
    values = [share.passes for share in shares.values()]
    if not values:
        return RatesCorrection(None, None, rates, None, None, None, reason or "there is no verdict")
    rate, number, unclear = sum(values) / len(values), None, _why_no_clusters(shares.values())
    if unclear is None:
        each = [Share(share.passes, cluster=share.cluster) for share in shares.values()]
        number = effective_number(each, sum(share.verdicts for share in shares.values()))
    if rates is None:
        return RatesCorrection(rate, number, None, None, None, None, reason)
    corrected, low, high = really_passing(rate, number or len(values), rates)
    reason = CHANCE if corrected is None else unclear or _why_no_interval(len(values), low, high)
    if reason is not None:
        low = high = None
    return RatesCorrection(rate, number, rates, corrected, low, high, reason)


def _why_no_interval(samples: int, low: float | None, high: float | None) -> str | None:
    """Return why the ends of an interval are none; None if they are."""
    if samples < FEWEST_SAMPLES:
        return f"fewer than {FEWEST_SAMPLES} samples"
    if low is None:
        return FEW_LABELS
    return BEYOND if low == high else None


def _why_no_clusters(shares: Collection[PassShare]) -> str | None:
    """Return why samples in clusters have no interval; None if they have, or are in none."""
    if not any(share.is_clustered for share in shares):
        return None
    clusters = [share.cluster for share in shares]
    if None not in clusters and len(set(clusters)) > 1:
        return None
    return few_clusters({"unclustered": clusters.count(None)})


def rates_as_json(rates: ErrorRates) -> JsonObject:
    """Return error rates as one JSON object, as `read` takes it."""
    return {name: getattr(rates, name) for name in NAMES}


def read(path: Path) -> ForeignCalibration:
    """Return the error rates that `keval calibrate -f jsonl` printed of another log; of one judge all lines together.

    Raises InputError for a line that is no such object, and for a file without error rates.
    """
    counts: dict[tuple[str, str], list[float]] = {}
    names: dict[tuple[str, str], str] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        row = _parsed(line)
        if row is None:
            raise InputError(f"{path}:{number}: not a line of `keval calibrate -f jsonl`")
        rates = row.get("error_rates")
        if rates is not None:
            known = counts.setdefault((row["judge_id"], row["metric"]), [0.0, 0.0, 0.0, 0.0])
            failing, passing = rates["failing"], rates["passing"]
            added = (failing * rates["specificity"], passing * rates["sensitivity"], failing, passing)
            known[:] = [one + other for one, other in zip(known, added, strict=True)]
            names[row["judge"], row["metric"]] = row["judge_id"]
    if not counts:
        raise InputError(f"{path}: no error rates; they need answers of both kinds, scored with `keval label --scores`")
    return ForeignCalibration(None, {key: _rates(*found) for key, found in counts.items()}, names)


def _rates(right_failing: float, right_passing: float, failing: float, passing: float) -> ErrorRates:
    return ErrorRates(right_failing / failing, right_passing / passing, int(failing), int(passing))


def _parsed(line: bytes) -> JsonObject | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("metric"), str) or not isinstance(row.get("judge_id"), str):
        return None
    rates = row.get("error_rates")
    is_whole = rates is None or (
        isinstance(rates, dict)
        and all(isinstance(rates.get(name), int | float) for name in NAMES)
        and min(rates["failing"], rates["passing"]) >= 1
        and all(0 <= rates[name] <= 1 for name in ("specificity", "sensitivity"))
    )
    return row if is_whole and isinstance(row.get("judge"), str) else None
