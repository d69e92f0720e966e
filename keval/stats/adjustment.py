"""Adjusts p-values for how many there are: one in twenty is by chance below 0.05. None counts for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Return p-values so that none of a family falls below alpha by chance more often than alpha (Holm 1979)."""
    ranked = _ascending(ps)
    scaled = ((len(ranked) - rank) * p for rank, (p, _) in enumerate(ranked))
    adjusted = (min(1.0, p) for p in accumulate(scaled, max))
    return _put_back(ps, dict(zip((place for _, place in ranked), adjusted, strict=True)))


def benjamini_hochberg(ps: Sequence[float | None]) -> list[float | None]:
    """Return p-values so that of those below alpha a share of alpha is chance (Benjamini and Hochberg 1995)."""
    ranked = _ascending(ps)
    scaled = [len(ranked) / rank * p for rank, (p, _) in enumerate(ranked, start=1)]
    adjusted = [min(1.0, p) for p in accumulate(reversed(scaled), min)][::-1]
    return _put_back(ps, dict(zip((place for _, place in ranked), adjusted, strict=True)))


def _ascending(ps: Sequence[float | None]) -> list[tuple[float, int]]:
    """Return the p-values that there are with their places, the smallest first."""
    return sorted((p, place) for place, p in enumerate(ps) if p is not None)


def _put_back(ps: Sequence[float | None], adjusted: dict[int, float]) -> list[float | None]:
    return [adjusted.get(place) for place in range(len(ps))]
