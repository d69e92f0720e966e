"""Tests the differences of a log: what the view `comparisons` cannot compute, and what depends on all of them."""

from __future__ import annotations

from collections.abc import Iterable

from keval.ids import JsonObject
from keval.stats import paired
from keval.stats.adjustment import benjamini_hochberg, holm
from keval.stats.declared import Declared
from keval.stats.sign_flip import sign_flip


def with_tests(found: Iterable[JsonObject], declared: Declared, *, groups: bool = False) -> list[JsonObject]:
    """Return the rows of the view `comparisons` with what `paired_statistics.py` reads beside its columns.

    p-values are adjusted over the current ones of primary metrics: one family, whatever is shown of it. `groups`: they
    are of groups of samples, which explore, and so it is a share of false findings that is held, not the chance of any.
    """
    name, adjust = ("p_bh", benjamini_hochberg) if groups else ("p_holm", holm)
    tested = [_tested(row, declared) for row in found]
    family = declared.primary_of([row for row in tested if row["current"] and row["can_flip"]])
    for row, adjusted in zip(family, adjust([row["sign_flip"].p for row in family]), strict=True):
        row |= {name: adjusted, "family_size": len(family)}
    return tested


def _tested(row: JsonObject, declared: Declared) -> JsonObject:
    clustered = row["n_clusters"] is not None
    return row | {
        "sign_flip": sign_flip(row["flipped"]),
        "failures_flip": sign_flip(row["failures_flipped"]),
        "can_flip": bool(row["n_paired"]) and not row["unclustered"],
        "se_tested": paired.tested_se(row["se"], row["se_clustered"]) if clustered else row["se"],
        "degrees": (row["n_clusters"] if clustered else row["n_paired"]) - 1,
        "margin": declared.margin_of(row),
        "p_holm": None,
        "p_bh": None,
        "family_size": 0,
    }
