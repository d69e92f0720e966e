"""Checks what a config says of comparisons: its baseline, which metrics are primary, and which difference matters.

It is read from the log, as the newest run recorded it (`keval/stats/declared.py`): a log explains itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keval.config.formulas import COMPUTED
from keval.config.sections import list_in, mapping_in
from keval.metric_names import names
from keval.nearest import near

if TYPE_CHECKING:
    from keval.config.formulas import ComputedMetric
    from keval.config.model import JudgeConfig
    from keval.documents.yaml_document import Keys


def check(
    written: Mapping[str, Any],
    judges: Sequence[JudgeConfig],
    metrics: Sequence[ComputedMetric],
    problem: Callable[[Keys, str], None],
) -> None:
    """Note names in a config, which may not fit its schema, that mean no condition and no metric of it."""
    conditions, baseline = mapping_in(written, "conditions"), written.get("baseline")
    if isinstance(baseline, str) and baseline not in conditions:
        problem(("baseline",), _unknown("condition", baseline, conditions))
    known = dict.fromkeys(_names(judges, metrics))
    section = mapping_in(written, "comparison")
    margins: list[tuple[Keys, str]] = [(("comparison", "margin", name), name) for name in mapping_in(section, "margin")]
    margins += [(("until", "margin", name), name) for name in mapping_in(mapping_in(written, "until"), "margin")]
    primary: list[tuple[Keys, str]] = [
        (("comparison", "primary", index), name)
        for index, name in enumerate(list_in(section, "primary"))
        if isinstance(name, str)
    ]
    for keys, name in (*margins, *primary):
        if name not in known:
            problem(keys, _unknown("metric", name, known))


def _names(judges: Sequence[JudgeConfig], metrics: Sequence[ComputedMetric]) -> Iterator[str]:
    of_judges = [(judge.name, metric.name) for judge in judges for metric in judge.judge.metrics]
    for judge, metric in (*of_judges, *((COMPUTED, metric.name) for metric in metrics)):
        yield from names(metric, judge)


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    return f"no {what} is called {name!r}; {near(name, known)}"
