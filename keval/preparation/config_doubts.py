"""Says, before anything is paid, what of a config and its samples is probably not meant as it is written."""

from __future__ import annotations

from collections.abc import Iterator

from keval.config.model import Config
from keval.counted import counted
from keval.nearest import hint
from keval.preparation.prepared import Prepared
from keval.reports.warnings import judge_is_agent
from keval.stats.conclusions import is_at_most_alpha


def config_doubts(prepared: Prepared) -> Iterator[str]:
    """Yield what its judges will not be able to say, and which models nothing is known of."""
    config = prepared.config
    yield from _judging_themselves(config)
    yield from _judging_unknown_calls(config)
    yield from _repeating_themselves(config)
    yield from _unjudged(prepared)
    yield from _without_golden_answers(prepared)
    yield from _without_fields(prepared)
    yield from _few_clusters(prepared)
    yield from _misspelt_models(config)


def _misspelt_models(config: Config) -> Iterator[str]:
    """Yield which models have no price, though one of nearly the same name has."""
    agent = (config.agent.model,) if config.agent.agent.uses_models else ()
    asked = (*agent, *(model for judge in config.judges for model in judge.judge.calls))
    for model in dict.fromkeys(model for model in asked if model is not None):
        if config.prices.price_of(model) is None and (meant := hint(model, config.prices.models)):
            yield f"nothing is known of the model {model!r}, so neither is its price{meant}"


def _judging_themselves(config: Config) -> Iterator[str]:
    """Yield which judges ask the model that answers."""
    for judge in config.judges:
        if config.agent.model is not None and config.agent.model in judge.judge.calls:
            yield judge_is_agent(judge.name, config.agent.model)


def _judging_unknown_calls(config: Config) -> Iterator[str]:
    """Yield which judges look at tool calls that the agent does not report."""
    for judge in config.judges:
        if judge.judge.uses_tool_calls and not config.agent.agent.reports_tool_calls:
            yield (
                f"judge {judge.name} looks at tool calls, which agent {config.agent.name} does not report: what is "
                "computed from them alone is not applicable"
            )


def _repeating_themselves(config: Config) -> Iterator[str]:
    """Yield which judges are asked several times for what they say each time."""
    for judge in config.judges:
        if judge.judge.deterministic and judge.replicates > 1:
            yield (
                f"judge {judge.name} says the same of an answer each time: {judge.replicates} replicates do not say "
                "how far it varies"
            )


def _unjudged(prepared: Prepared) -> Iterator[str]:
    """Yield which samples no judge is for."""
    judges = prepared.config.judges
    left = [sample["id"] for sample in prepared.samples if all(judge.not_for(sample) is not None for judge in judges)]
    if judges and left:
        samples = f"sample {left[0]!r}" if len(left) == 1 else f"{len(left)} samples, as {left[0]!r}"
        yield f"no judge is for {samples}: what is answered there is paid for and never judged"


def _without_golden_answers(prepared: Prepared) -> Iterator[str]:
    """Yield which judges have nothing to compare answers with, or not for all samples."""
    for judge in prepared.config.judges:
        judged = [sample for sample in prepared.samples if judge.not_for(sample) is None]
        lacking = sum(map(judge.judge.lacks_golden_answer, judged))
        needs = f"judge {judge.name} needs golden answers, which"
        if lacking and lacking == len(prepared.samples):
            yield f"{needs} the dataset does not have: it gives no score"
        elif lacking:
            share = "" if len(judged) == len(prepared.samples) else " that it is for"
            samples = f"{lacking:,} of {counted(len(judged), 'sample')}{share}"
            yield f"{needs} {samples} {'does' if lacking == 1 else 'do'} not have: it gives no score there"


def _few_clusters(prepared: Prepared) -> Iterator[str]:
    """Yield that the samples belong to so few clusters that no difference could be told, whatever the answers."""
    config = prepared.config
    if not config.conditions[1:] or not all(dataset.layout.cluster_key for dataset in config.datasets):
        return
    clusters = len({sample.get("cluster") for sample in prepared.samples})
    smallest = 2.0 ** (1 - clusters)
    if not is_at_most_alpha(smallest) and len(prepared.samples) > clusters:
        yield (
            f"the samples belong to {counted(clusters, 'cluster')}: nobody will be able to tell a difference, whatever "
            f"the answers are (p of the exact test will be {smallest:.2g} or more); more questions help only if they "
            "are of other clusters"
        )


def _without_fields(prepared: Prepared) -> Iterator[str]:
    """Yield which judges are to look at a field that no sample has."""
    there = set().union(*prepared.samples)
    for judge in prepared.config.judges:
        for name in judge.judge.sample_fields or ():
            if name not in {"question", "answer", *there}:
                yield f"judge {judge.name} looks at the field {name!r}, which no sample has{hint(name, there)}"
