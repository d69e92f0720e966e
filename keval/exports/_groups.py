"""Lays out what a report says of groups of samples: that they explore stands in the title and below."""

from __future__ import annotations

from collections.abc import Iterator

from keval.counted import counted, first_of
from keval.exports._blocks import Cell, Lines, Section, Table
from keval.readable import NOTHING, count, interval, number, probability
from keval.reports.groups import GroupedMetric, GroupScore
from keval.reports.metric_tables import Difference, statistic, within
from keval.reports.number_warnings import FEW_CLUSTERS, UNRELIABLE_CLUSTERS
from keval.stats.conclusions import EXPLORATORY

COLUMNS = ("condition", "samples", "mean", "95 % CI", "difference", "95 % CI", "p", "p adjusted", "conclusion")


def groups(found: GroupedMetric) -> Section:
    """Return the section of one metric: a row per group and condition."""
    rows = tuple(_row(each, found) for each in found.scores)
    heading = f"By {', '.join(found.fields)} (exploratory): {found.metric}, judge {found.judge}"
    said = (_said(found), *_few_clusters(found))
    return Section(heading, (Table((", ".join(found.fields), *COLUMNS), rows), Lines(tuple((each,) for each in said))))


def _said(found: GroupedMetric) -> str:
    """Say what is to be thought of so many comparisons."""
    if not found.comparisons:
        return "Groups explore: with many of them some differ by luck."
    return (
        f"Groups explore: of {found.comparisons} comparisons of groups some differ by luck. The second p is adjusted "
        "for all of them by Benjamini and Hochberg's method; a conclusion that rests on the first alone says so."
    )


def _few_clusters(found: GroupedMetric) -> Iterator[str]:
    """Yield in which groups there are too few clusters for what rests on them."""
    few: dict[str, int] = {}
    for each in found.scores:
        clusters = statistic(each.score, "n_clusters")
        if clusters and clusters < FEW_CLUSTERS and each.score.ci_lower is not None:
            name = ", ".join(each.by.values())
            few[name] = min(clusters, few.get(name, clusters))
    if few:
        told = first_of([f"{name}: {counted(number, 'cluster')}" for name, number in few.items()])
        yield f"Groups of {UNRELIABLE_CLUSTERS} ({told})."


def _row(each: GroupScore, found: GroupedMetric) -> tuple[Cell, ...]:
    score, difference = each.score, each.difference
    known: tuple[Cell, ...] = (
        ", ".join(each.by.values()),
        score.condition,
        count(score.n_samples),
        number(score.mean),
        interval(*within(found, score)),
    )
    if difference is None:
        return (*known, *[NOTHING] * 5)
    adjusted = difference.other_statistics.get("p_bh")
    return (
        *known,
        number(difference.difference, "+"),
        interval(difference.ci_lower, difference.ci_upper, "+"),
        probability(difference.other_statistics.get("p")),
        probability(adjusted),
        _concluded(difference),
    )


def _concluded(found: Difference) -> str:
    """Return the conclusion, and what qualifies it beside what the heading says."""
    qualified = (each for each in (found.qualification or "").split(", ") if each not in ("", EXPLORATORY))
    return ", ".join((found.conclusion, *qualified))
