"""Lays out house scores, so that nobody takes them for a finding."""

from __future__ import annotations

from collections.abc import Sequence

from keval.exports._blocks import Lines, Section, Table
from keval.readable import number
from keval.reports.model import HouseScore, HouseScores


def house(found: HouseScores) -> Section:
    """Return the section of house scores: each part beside the sum, in the order of the logs and not of the scores."""
    formula = " + ".join(f"{weight:g} · {name}" for name, weight in found.weights.items())
    rows = tuple(
        (each.condition, each.about, *(number(each.parts[name]) for name in found.weights), number(each.value))
        for each in found.scores
    )
    return Section(
        f"House score: {found.strategy}",
        (
            Table(("condition", "of", *found.weights, "house score"), rows),
            Lines((
                (f"A rule of thumb, published nowhere: {formula}; {found.meaning}.",),
                ("It has no interval and no test, and nothing is concluded from it; equal scores are equal.",),
                *_unknown(found.scores),
            )),
        ),
    )  # fmt: skip


def _unknown(scores: Sequence[HouseScore]) -> list[tuple[str]]:
    lacking = {name for each in scores for name, part in each.parts.items() if part is None}
    return [(f"Where {', '.join(sorted(lacking))} is not known, the house score is not known.",)] if lacking else []
