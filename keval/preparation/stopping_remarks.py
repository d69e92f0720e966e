"""Says before a run what its stopping rule can and cannot do: when it cannot pay off, and what it costs otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from keval.metric_names import full_name
from keval.stats.power import Aim, power, smallest_difference
from keval.stats.recorded_rule import Member, RecordedRule
from keval.stats.stopping_forecast import least_samples
from keval.stats.stopping_rule import StoppingRule
from keval.stats.student import two_sided

USUAL_POWER = 0.8
FEWEST = 2
"""Fewer samples do not differ."""


def remarks(rule: RecordedRule) -> Iterator[str]:
    """Yield what a user should know before a run is paid for, once for each metric."""
    found = {(member.judge_id, member.metric): member for member in rule.family}
    for member in found.values():
        yield from _of_metric(rule, member)
    if rule.rule.target == "population" and rule.samples >= FEWEST:
        yield _power(rule.rule, rule.samples)


def _of_metric(rule: RecordedRule, member: Member) -> Iterator[str]:
    reach, samples, name = member.max - member.min, rule.samples, full_name(member.judge, member.metric)
    least = least_samples(reach, 0, reach, rule.rule) or samples + 1
    if least >= samples:
        yield (
            f"until: {name}: the rule cannot stop early: not even the largest difference is decided before {least} "
            f"samples, and there are {samples}; only the complete run decides"
        )
        return
    half = _smallest(rule.rule, reach, samples // 2)
    if half is not None:
        yield (
            f"until: {name}: to stop after half of the {samples} samples, each would have to differ by {half:.2g} "
            f"points of {reach:g} or more; with a smaller mean difference expect to pay for most of them"
        )
    if member.margin is None:
        yield f"until: {name}: without a margin no equality is concluded: conditions that are alike cost all samples"
        return
    needed = least_samples(0, -member.margin, reach, rule.rule)
    if needed is None or needed > samples:
        number = "more samples than anybody asks" if needed is None else f"at least {needed} samples"
        yield (
            f"until: {name}: margin {member.margin:g} on a scale of {member.min:g} to {member.max:g} needs {number}; "
            f"the dataset has {samples}: only the complete run can say 'no difference'"
        )


def _smallest(rule: StoppingRule, reach: float, samples: int) -> float | None:
    """Return the smallest difference, the same in each sample, that is decided after so many; None if none is."""
    low, high = 0.0, reach
    if (least_samples(high, 0, reach, rule) or samples + 1) > samples:
        return None
    for _ in range(20):
        middle = (low + high) / 2
        found = least_samples(middle, 0, reach, rule)
        low, high = (low, middle) if found is not None and found <= samples else (middle, high)
    return high


def _power(rule: StoppingRule, samples: int) -> str:
    """Return what the right to stop costs where the run does not stop."""
    level, alone = rule.complete_level, rule.alpha / rule.comparisons
    if level is None:
        return "until: early_share 1 leaves no ordinary test: a complete run concludes less than one that asks all"
    difference = smallest_difference(1.0, samples, Aim(1.0, USUAL_POWER, alone))
    left = power(difference, 1.0, samples, 1 - level)
    wider = two_sided(level, samples - 1) / two_sided(1 - alone, samples - 1)
    return (
        f"until: if it does not stop, its intervals are {wider:.2f} times as wide, and a difference that the ordinary "
        f"test finds in {USUAL_POWER:.0%} of runs is found in {left:.0%}"
    )
