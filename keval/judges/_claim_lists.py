"""Scores that have to agree with the lists that a judge's model made before it scored.

A model says what it found (claims that hold, claims that do not) and then a number. Where the number is not what the
lists come to, the lists count, and the judgment says so: they can be checked, the number cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keval.ids import JsonObject
from keval.judges._judgment import Metric, Score

NOTHING_TO_CHECK = "nothing to check: the judge found no item for this metric's lists"

TOLERANCE = 0.05
"""By how much of its scale a score may differ from its lists: models round."""


def score(metric: Metric, reply: Mapping[str, Any], share: Mapping[str, Sequence[str]] | None) -> Score:
    """Return what a metric's reply comes to; a score that contradicts its lists is computed from them."""
    said = reply["score"] if metric.type == "continuous" else int(reply["score"])
    if share is None:
        return Score(said, reply["reasoning"])
    counted = _share(reply, share)
    if counted is None:
        return Score(None, reply["reasoning"], not_applicable=NOTHING_TO_CHECK)
    width = metric.max - metric.min
    if abs(said - (metric.min + counted * width)) <= TOLERANCE * width + 1e-9:
        return Score(said, reply["reasoning"])
    computed = round(metric.min + counted * width, 6)
    return Score(computed, f"[The judge said {said:g}; its lists come to {computed:g}.] {reply['reasoning']}")


def outcome(
    metrics: Sequence[Metric], reply: Mapping[str, Any], lists: Mapping[str, Any], scores: Mapping[str, Score]
) -> JsonObject | None:
    """Return the lists of all metrics, and which scores are not those that the model gave; None without lists."""
    if not lists:
        return None
    found = {name: {each: reply[name][each] for each in of["lists"]} for name, of in lists.items()}
    recomputed = {
        metric.name: {"said": reply[metric.name]["score"], "computed": computed}
        for metric in metrics
        if (computed := scores[metric.name].score) is not None and computed != reply[metric.name]["score"]
    }
    return {"lists": found, "recomputed": recomputed}


def _share(reply: Mapping[str, Any], share: Mapping[str, Sequence[str]]) -> float | None:
    """Return the share of items that count for the answer, 0 to 1; None without any item."""
    counts = {part: sum(len(reply[name]) for name in names) for part, names in share.items()}
    whole = sum(counts.values())
    return (counts.get("for", 0) + counts.get("half", 0) / 2) / whole if whole else None
