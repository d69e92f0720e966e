"""Makes the stopping rule of a config: which comparisons are its family, and what no such rule can be made for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from keval.config.formulas import COMPUTED
from keval.config.sections import list_in, mapping_in
from keval.config.until_section import Until
from keval.errors import UsageError
from keval.ids import JsonObject, digest
from keval.metric_names import full_name
from keval.stats.declared import Declared
from keval.stats.recorded_rule import Member, RecordedRule
from keval.stats.stopping_rule import StoppingRule

if TYPE_CHECKING:
    from keval.config.model import Config


def recorded_rule(config: Config, samples: Sequence[JsonObject], until: Until) -> RecordedRule:
    """Return the rule of a config over samples in the order in which they are asked.

    Raises UsageError for what it cannot be true of.
    """
    problems = list(_problems(config))
    if problems:
        raise UsageError(*(f"{config.path}: {problem}" for problem in problems))
    baseline = config.baseline
    conditions = {condition.name: condition.condition_id for condition in config.conditions}
    family = tuple(_family(config, until, baseline))
    if not family:
        raise UsageError(f"{config.path}: until: there is nothing to decide: no judge scores a primary metric")
    return RecordedRule(
        rule=StoppingRule(len(family), until.alpha, until.early_share, until.min_samples, until.target),
        baseline=baseline,
        baseline_id=conditions[baseline],
        agent_id=config.agent.agent_id,
        samples=len(samples),
        repetitions=config.execution.repetitions,
        seed=config.execution.seed,
        answers_sha256=digest("answers", list(_compared_with(config, samples, family))),
        family=family,
    )


def _compared_with(config: Config, samples: Iterable[JsonObject], family: Sequence[Member]) -> Iterator[object]:
    """Yield of each sample what the judges of the family are given beside the question: mostly the golden answer."""
    judge_ids = {member.judge_id for member in family}
    fields = [judge.sample_fields for judge in config.judges if judge.judge_id in judge_ids]
    others = {name for names in fields for name in names or ()} - {"question", "answer"}
    for sample in samples:
        if None in fields:
            yield sample
        elif others:
            yield {name: sample.get(name) for name in ("answer", *sorted(others))}
        else:
            yield sample.get("answer")


def as_recorded(rule: RecordedRule) -> Until:
    """Return what a user would have to say to get a rule again."""
    margins = {full_name(each.judge, each.metric): each.margin for each in rule.family if each.margin is not None}
    given = rule.rule
    return Until(given.alpha, given.early_share, given.min_samples, given.target, margins or None)


def _problems(config: Config) -> Iterator[str]:
    """Yield what of a config no stopping rule can be true of."""
    if len(config.conditions) == 1:
        yield "until: there is one condition, and so nothing to decide"
    for dataset in config.datasets:
        if dataset.layout.cluster_key is not None:
            yield (
                f"until: dataset {dataset.written} has a cluster_key, and then the unit would be the cluster; "
                "leave `until` out, or the cluster_key"
            )
    if config.as_written.get("failures") == "exclude":
        yield (
            "until: failures are excluded, so that what is missing would depend on the outcome; leave `until` out, or "
            "`failures: exclude`"
        )
    for row in _primary(config):
        if row["kind"] != "mean":
            yield f"until: {full_name(row['judge'], row['metric'])} is primary, and {_WHY[row['kind']]}; {_NAME_OTHERS}"


_WHY = {
    "computed": "is computed from other scores: a stopping rule is for the mean of what one judge scores",
    "pair": "its judge compares two answers when all are there: it cannot say meanwhile how they differ",
}
_NAME_OTHERS = "name other metrics under `comparison: primary`, or leave `until` out"


def _primary(config: Config) -> list[JsonObject]:
    """Return the metrics that are primary, with what they are; those of judges alone where none is named."""
    section = mapping_in(config.as_written, "comparison")
    named = tuple(str(name) for name in list_in(section, "primary"))
    found = [
        {
            "judge": judge.name, "judge_id": judge.judge_id, "metric": metric.name,
            "min": metric.min, "max": metric.max, "sample_rate": float(judge.sampling.rate),
            "kind": "mean" if judge.judge.unit == "response" else "pair",
        }
        for judge in config.judges
        for metric in judge.judge.metrics
    ]  # fmt: skip
    if named:
        found += [{"judge": COMPUTED, "metric": each.name, "kind": "computed"} for each in config.metrics]
    return Declared(primary=named).primary_of(found)


def _family(config: Config, until: Until, baseline: str) -> Iterator[Member]:
    margins = Declared(margin=until.margin)
    for condition in config.conditions:
        if condition.name == baseline:
            continue
        for row in _primary(config):
            scale = {name: row[name] for name in ("judge", "judge_id", "metric", "min", "max", "sample_rate")}
            yield Member(condition.name, condition.condition_id, **scale, margin=margins.margin_of(row))
