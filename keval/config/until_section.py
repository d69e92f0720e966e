"""Reads when a run is to stop: from the config's section `until`, and from what a command line says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from keval.config.sections import mapping_in
from keval.errors import UsageError

if TYPE_CHECKING:
    from keval.stats.stopping_rule import Target

Margin = float | Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class Until:
    """That a run stops when it is decided, and how that is decided; what nobody says has its default."""

    alpha: float = 0.05
    early_share: float = 0.5
    min_samples: int = 10
    target: Target = "population"
    margin: Margin = None
    """The smallest difference that matters, of all metrics or by metric; None: none is declared."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a command line says of it; None for what it leaves to the config."""

    until: str | None = None
    """`decided`, or `complete` for all samples whatever the config says."""
    alpha: float | None = None
    early_share: float | None = None
    min_samples: int | None = None
    margin: float | None = None


def wanted(written: Mapping[str, Any], given: Given) -> Until | None:
    """Return when a run of a config that fits its schema is to stop; None: not before the dataset's end.

    Raises UsageError for options that would mean nothing.
    """
    options = {name: getattr(given, name) for name in ("alpha", "early_share", "min_samples", "margin")}
    said = {name: value for name, value in options.items() if value is not None}
    if given.until == "complete" or (given.until is None and "until" not in written):
        if said:
            raise UsageError(f"--{next(iter(said)).replace('_', '-')} goes with --until decided")
        return None
    section = {"margin": mapping_in(written, "comparison").get("margin"), **mapping_in(written, "until"), **said}
    return replace(Until(), **section)
