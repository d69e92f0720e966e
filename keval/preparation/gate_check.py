"""Says, before anything is paid, which rules of a config's gate ask for what its run will not have.

A rule about conditions that nobody compares is refused, and so is one about groups that no sample is in. A rule may be
meant for scores that a later judge gives: of those there are warnings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from keval.config import gate_section
from keval.config.formulas import COMPUTED
from keval.config.gate_rules import (
    BASELINE,
    BEFORE,
    Comparison,
    Level,
    Rule,
    beyond_scale,
    not_the_baseline,
    unknown_condition,
)
from keval.config.model import Config, JudgeConfig
from keval.config.sections import list_in, mapping_in
from keval.errors import UsageError, Warn
from keval.metric_names import full_name, names
from keval.nearest import near


class _Scale(NamedTuple):
    lowest: float
    highest: float


def check_gate_rules(config: Config, samples: Iterable[Mapping[str, Any]], warn: Warn) -> None:
    """Warn of rules about scores that no judge gives.

    Raises UsageError for conditions that are not there, and for fields that no sample has.
    """
    if wrong := [*_of_rules(config, warn), *_of_groups(config, samples, warn)]:
        raise UsageError(*wrong)


def check_rules(config: Config, warn: Warn) -> None:
    """Do of `check_gate_rules` what needs no samples."""
    if wrong := [*_of_rules(config, warn)]:
        raise UsageError(*wrong)


def _of_rules(config: Config, warn: Warn) -> Iterator[str]:
    """Yield what is wrong with the conditions of rules, and warn of their scores."""
    known = _scales(config)
    for rule in gate_section.recorded(config.as_written.get("gate")).rules:
        begin = _begin(config, rule)
        yield from (begin + mistake for mistake in _mistakes(rule, config, known))
        doubts = _of_comparison(rule, config, known) if isinstance(rule, Comparison) else _of_level(rule, config, known)
        for doubt in doubts:
            warn(begin + doubt)


def _of_groups(config: Config, samples: Iterable[Mapping[str, Any]], warn: Warn) -> Iterator[str]:
    """Yield which fields of rules no sample has, and warn of groups of which nobody will be able to tell."""
    held_to = gate_section.recorded(config.as_written.get("gate"))
    for rule in held_to.rules:
        if rule.by is not None and not any(rule.by in sample for sample in samples):
            yield f"{_begin(config, rule)}no sample has a field {rule.by!r}; {near(rule.by, _fields(samples))}"
        elif rule.by is not None and "until" in config.as_written and not held_to.on_mean:
            warn(
                f"{_begin(config, rule)}groups of a run that stops before its last sample have no intervals, and "
                "nobody can tell of them; with `on: mean` the numbers alone decide"
            )


def _begin(config: Config, rule: Rule) -> str:
    return f"{config.path}: gate: rule {rule.text!r}: "


def _fields(samples: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the fields of the samples, in the order in which they come."""
    return list(dict.fromkeys(name for sample in samples for name in sample))


def _scales(config: Config) -> dict[str, set[_Scale]]:
    """Return the names of all metrics, each with its scale, or those of several judges."""
    found: dict[str, set[_Scale]] = {}
    for judge in config.judges:
        for metric in judge.judge.metrics:
            for name in names(metric.name, judge.name):
                found.setdefault(name, set()).add(_Scale(metric.min, metric.max))
    for computed in config.metrics:
        for name in names(computed.name, COMPUTED):
            found.setdefault(name, set()).add(_Scale(computed.min, computed.max))
    return found


def _of_several_scales(rule: Level, config: Config) -> Iterator[str]:
    """Yield the metric of a name that others have, too, on whose scale the limit of a rule does not lie."""
    for judge in config.judges:
        for metric in judge.judge.metrics:
            is_meant = rule.quantity.name in names(metric.name, judge.name)
            if is_meant and not metric.min <= rule.limit <= metric.max:
                yield (
                    f"it asks for {rule.quantity.name} of each judge, and that of {judge.name} goes from "
                    f"{metric.min:g} to {metric.max:g}; name the one that is meant, as JUDGE/{metric.name}"
                )


def _mistakes(rule: Rule, config: Config, known: Mapping[str, Collection[_Scale]]) -> Iterator[str]:
    """Yield which of the conditions that a rule names are not there, or not compared."""
    conditions = [condition.name for condition in config.conditions]
    if rule.condition is not None and rule.condition not in conditions:
        yield unknown_condition(rule.condition, conditions, known)
    if rule.reference is None:
        return
    baseline = config.baseline
    if rule.reference not in {BEFORE, baseline} and (rule.reference != BASELINE or BASELINE in conditions):
        yield not_the_baseline(rule.reference, baseline, conditions)
    elif rule.condition == baseline and rule.reference != BEFORE:
        yield f"{baseline!r} is the baseline itself"
    if isinstance(rule, Comparison):
        yield from _too_wide(rule, config)


def _too_wide(rule: Comparison, config: Config) -> Iterator[str]:
    """Yield the metrics whose scale does not have the margin of a rule."""
    for judge, judge_id, metric, low, high in config.scales:
        is_meant = rule.metric is None or rule.metric in names(metric, judge, judge_id)
        told = beyond_scale(rule, full_name(judge, metric), low, high)
        if is_meant and told is not None:
            yield f"{told}; name the metric that is meant, as JUDGE/METRIC of {rule.condition}"


def _of_comparison(rule: Comparison, config: Config, known: Mapping[str, Collection[_Scale]]) -> Iterator[str]:
    if rule.metric is not None and rule.metric not in known:
        yield _no_metric(rule.metric, known)
    primary = list_in(mapping_in(config.as_written, "comparison"), "primary")
    if rule.metric is None and primary and "until" in config.as_written and (others := _not_among(primary, config)):
        yield (
            f"it asks for all metrics, and a run that stops when decided says nothing of those that are not primary "
            f"({', '.join(others)}); name one, as in '{primary[0]} of {rule.text}'"
        )


def _not_among(named: Collection[object], config: Config) -> list[str]:
    """Return the metrics of judges that are not named."""
    metrics = ((metric.name, judge.name) for judge in config.judges for metric in judge.judge.metrics)
    return [full_name(judge, metric) for metric, judge in metrics if not set(names(metric, judge)) & set(named)]


def _of_level(rule: Level, config: Config, known: Mapping[str, Collection[_Scale]]) -> Iterator[str]:
    name = rule.quantity.name
    if not rule.quantity.is_metric:
        if name.startswith("pass") and not any(map(_can_pass, config.judges)) and not config.metrics:
            yield "nothing says from which score an answer passes; `pass_from` of a metric does, or --pass-from later"
        if name == "tool errors" and not config.agent.agent.reports_tool_calls:
            yield f"agent {config.agent.name} does not report its tool calls"
    elif name not in known:
        yield _no_metric(name, known)
    elif len(known[name]) > 1:
        yield from _of_several_scales(rule, config)
    else:
        (scale,) = known[name]
        if _is_out_of_reach(rule, scale):
            yield f"it can never be met: {name} goes from {scale.lowest:g} to {scale.highest:g}"


def _can_pass(judge: JudgeConfig) -> bool:
    """Return whether answers may pass by a judge: models only grade, and what passes is said of the metric."""
    grades_alone = judge.judge.uses_models or judge.judge.unit == "pair"
    return not grades_alone or any(metric.pass_from is not None for metric in judge.judge.metrics)


def _no_metric(name: str, known: Mapping[str, object]) -> str:
    return f"no judge of the config gives a metric {name!r}; {near(name, known)}"


def _is_out_of_reach(rule: Level, scale: _Scale) -> bool:
    """Return whether no score on a scale is on the asked side of the limit."""
    return {
        ">=": rule.limit > scale.highest,
        ">": rule.limit >= scale.highest,
        "<=": rule.limit < scale.lowest,
        "<": rule.limit <= scale.lowest,
    }[rule.sign]
