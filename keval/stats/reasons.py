"""Says why a statistic is null, from the row of numbers that it stands in."""

from __future__ import annotations

from keval.ids import JsonObject
from keval.stats.intervals import FEWEST_SAMPLES

UNJUDGED = "no judgments"
TOO_FEW = f"fewer than {FEWEST_SAMPLES} samples: no interval is shown"


def no_plan(_: JsonObject) -> str:
    """Say why there is no number of planned tasks."""
    return "no run event says what was planned"


def no_score(_: JsonObject) -> str:
    """Say why there is no mean."""
    return UNJUDGED


def nothing_tried(_: JsonObject) -> str:
    """Say why there are no bounds of a mean."""
    return "nothing was planned or tried"


def no_second_sample(row: JsonObject) -> str:
    """Say why there is no spread between samples."""
    return "one sample" if row["n_samples"] else UNJUDGED


def no_second_repetition(row: JsonObject) -> str:
    """Say why there is no spread within samples."""
    return "one repetition" if row["n_samples"] else UNJUDGED


def no_interval(row: JsonObject) -> str:
    """Say why a mean has no interval; means that do not differ do not say how far they could."""
    if row.get("se") is None:
        return no_second_sample(row)
    return TOO_FEW if row["se"] else "all samples have the same mean"


def no_second_pair(row: JsonObject) -> str:
    """Say why there is no difference, or no spread of the differences."""
    return "one paired sample" if row["n_paired"] else "no sample has a value under both conditions"


def no_interval_of_pairs(row: JsonObject) -> str:
    """Say why a difference has no interval."""
    if row["se"] is None:
        return no_second_pair(row)
    if row["se"]:
        return TOO_FEW
    return "every sample differs by the same amount" if row["difference"] else "no sample differs"
