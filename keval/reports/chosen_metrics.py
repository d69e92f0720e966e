"""The metrics that a user names with `--metric`."""

from __future__ import annotations

from collections.abc import Iterable

from keval.errors import UsageError
from keval.metric_names import names
from keval.nearest import near


def check_chosen(wanted: Iterable[str], there: Iterable[tuple[str, str, str]]) -> None:
    """Raise UsageError for a name that means none of the metrics that are there, each with its judge's name and id."""
    metrics = list(dict.fromkeys(there))
    meant = {name for each in metrics for name in names(*each)}
    for name in wanted:
        if name not in meant:
            shown = dict.fromkeys(name for metric, judge, _ in metrics for name in names(metric, judge))
            raise UsageError(f"--metric {name}: no such metric; {near(name, shown)}")
