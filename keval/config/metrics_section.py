"""Reads the config's section `metrics`: what is computed from the judges' scores, without another judgment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keval.config.formulas import COMPUTED, ComputedMetric, Part
from keval.config.model import LARGEST_SCORE, JudgeConfig
from keval.metric_names import full_name
from keval.nearest import near

if TYPE_CHECKING:
    from keval.documents.yaml_document import Keys

EXPONENTS = {"alpha": 2.0, "beta": 0.5, "gamma": 1.5}
PER_TOKENS = 1000.0
"""The formula `combined`, unless the config says otherwise."""


def read_all(
    written: Mapping[str, Any], judges: Sequence[JudgeConfig], problem: Callable[[Keys, str], None]
) -> Iterator[ComputedMetric]:
    """Yield the metrics that a config which fits its schema declares over its judges, and note what is wrong."""
    sections = written.get("metrics", {})
    if sections and any(judge.name == COMPUTED for judge in judges):
        problem(("metrics",), f"a judge is called {COMPUTED!r}, as is all that is computed; give it another name")
    known = {full_name(judge.name, metric.name): (judge, metric) for judge in judges for metric in judge.judge.metrics}
    for name, section in sections.items():
        keys: Keys = ("metrics", name)
        named = _mean(section["of"]) if section["type"] == "weighted" else _product(section)
        unknown = [(where, part) for where, part, _ in named if part not in known]
        for where, part in unknown:
            problem((*keys, *where), f"no judge of this config has the metric {part!r}; {near(part, known)}")
        if not unknown:
            parts = [(known[part], weight) for _, part, weight in named]
            of = [Part(judge.name, judge.judge_id, metric, weight) for (judge, metric), weight in parts]
            computed = _built(name, section, of)
            for message in _mistakes(computed):
                problem(keys, message)
            yield computed


Written = list[tuple["Keys", str, float]]
"""The parts of a formula: where each is written, its name, and its weight or exponent."""


def _mean(of: Mapping[str, float] | Sequence[str]) -> Written:
    if isinstance(of, Mapping):
        return [(("of", part), part, float(weight)) for part, weight in of.items()]
    return [(("of", index), part, 1.0) for index, part in enumerate(of)]


def _product(section: Mapping[str, Any]) -> Written:
    exponents = EXPONENTS | dict(section)
    return [((key,), section[key], float(exponents[name])) for key, name in (("hit_rate", "alpha"), ("judge", "gamma"))]


def _built(name: str, section: Mapping[str, Any], parts: Sequence[Part]) -> ComputedMetric:
    above = section.get("pass_above")
    passes = None if above is None else float(above)
    if section["type"] == "weighted":
        return ComputedMetric(name, "weighted", tuple(parts), passes)
    beta, per_tokens = section.get("beta", EXPONENTS["beta"]), section.get("per_tokens", PER_TOKENS)
    return ComputedMetric(name, "combined", tuple(parts), passes, float(beta), float(per_tokens))


def _mistakes(metric: ComputedMetric) -> Iterator[str]:
    """Yield why a formula makes no numbers."""
    negative = [part.name for part in metric.parts if part.metric.min < 0]
    if metric.type == "combined" and negative:
        yield f"the scale of {negative[0]} goes below 0, where a power is no number; combined takes scales from 0 on"
    elif not -LARGEST_SCORE <= metric.min < metric.max <= LARGEST_SCORE:
        yield f"its scores would range from {metric.min:g} to {metric.max:g}; a scale lies within ±{LARGEST_SCORE:g}"
