"""Ask each question several times, and say how often it passes: pass@k, pass^k, flakiness."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import starmap
from pathlib import Path

import click

from keval import projections
from keval.commands import caveats
from keval.commands.messages import say, say_json, warn
from keval.commands.options import (
    CONFIG,
    LIMIT,
    OUTPUT,
    PASS_FROM,
    RETRY_FAILED,
    SKIP_INVALID,
    RequestContext,
    requesting,
)
from keval.config.reader import load
from keval.counted import counted
from keval.errors import UsageError
from keval.execution.config_session import default_log, run_all
from keval.logs.collect import collected
from keval.logs.folder import is_log
from keval.readable import percent
from keval.reports.condition_trials import NOTHING_KNOWN, ConditionTrials, condition_trials
from keval.reports.thresholds import Scale, thresholds
from keval.reports.trials import READ, SampleTrials, sample_trials
from keval.reports.verdicts import deciding, undecided
from keval.stats.condition_passes import Estimate
from keval.stats.intervals import Interval


@click.command(epilog="Example: keval trials eval.yaml -k 3 --trials 5 --mock")
@CONFIG
@OUTPUT
@click.option("-k", type=click.IntRange(min=1), default=5, show_default=True,
              help="The k of pass@k and pass^k.")  # fmt: skip
@click.option("-n", "--trials", "number", type=click.IntRange(min=1), metavar="N",
              help="How often each question is asked (default: k).")  # fmt: skip
@click.option("-f", "--format", "written", type=click.Choice(["text", "jsonl"]), default="text", show_default=True,
              help="For people, or one JSON object per condition and sample.")  # fmt: skip
@PASS_FROM
@requesting(LIMIT, RETRY_FAILED, SKIP_INVALID)
@click.pass_context
def command(
    context: click.Context,
    config_path: Path,
    output: Path | None,
    k: int,
    number: int | None,
    written: str,
    pass_from: Mapping[str, float],
    asked: RequestContext,
) -> None:
    """Ask each question several times, and say how often it passes.

    Generates and judges as `keval run` does, with N repetitions, in the same log: what is there
    is not asked again. A trial passes if every metric that says so passes. With N above k, the
    chances are estimated from all N trials; with N = k they are 0 or 1 for each sample.
    """
    if is_log(config_path):
        raise UsageError(
            f"{config_path} is a log; keval trials takes a config, and asks the agent: keval trials eval.yaml; what a "
            f"log holds, `keval aggregate {shlex.quote(str(config_path))} --k 1,2` tells without asking anything"
        )
    config, planned = load(config_path), number or k
    if planned < k:
        raise click.UsageError(f"--trials {planned} is less than k = {k}: nothing could be said of {k} trials")
    config = replace(config, execution=replace(config.execution, repetitions=planned))
    pass_from = thresholds(pass_from, starmap(Scale, config.scales))  # before anything is paid
    with asked as request:
        log = output or default_log(config, mock=request.mock)
        failed = run_all(config, log, request, warn)
    skip_invalid = request.skip_invalid
    with (
        collected([log], lambda _: None, skip_invalid=skip_invalid) as files,
        projections.connect(files, texts=False, tools=False, asked={*READ, *caveats.READ_FOR_MOCK}) as connection,
    ):
        caveats.warn_of_mock(connection)
        for name in undecided(connection, pass_from):
            warn(f"{name}: nothing says which score passes, so it decides no trial; --pass-from {name}=SCORE does")
        names = [condition.name for condition in config.conditions]
        found = sample_trials(connection, files, k, planned, pass_from=pass_from, conditions=names)
        if written == "jsonl":
            for trials in found:
                say_json(trials.as_json())
        else:
            if metrics := deciding(connection, pass_from):
                say(f"metrics that decide whether a trial passes: {', '.join(metrics)}")
            _print(found, k)
    context.exit(1 if failed else 0)


def _print(found: Iterable[SampleTrials], k: int) -> None:
    all_counts = []
    for trials in found:
        counts = trials.counts
        all_counts.append(counts)
        known = f"pass@{k} {percent(counts.pass_at_k)}  pass^{k} {percent(counts.pass_every_k)}"
        said = known if counts.why_unknown is None else counts.why_unknown
        say(f"{counts.condition}  {trials.sample['id']}  {counts.passes}/{counts.planned} passed  {said}")
    for summary in condition_trials(all_counts):
        say(_summary(summary, k))


def _summary(summary: ConditionTrials, k: int) -> str:
    worst, best = summary.worst or NOTHING_KNOWN, summary.best or NOTHING_KNOWN
    at = f"pass@{k} {_chance(summary.pass_at_k, summary.pass_at_k_interval, worst.at_k, best.at_k)}"
    every = f"pass^{k} {_chance(summary.pass_every_k, summary.pass_every_k_interval, worst.every_k, best.every_k)}"
    unknown = f", {summary.unknown} not known" if summary.unknown else ""
    others = f"; {summary.not_judged} more that no judge judges" if summary.not_judged else ""
    samples = counted(summary.samples, "sample")
    return f"{summary.condition}: {samples}, {at}, {every}, {summary.flaky} flaky{unknown}{others}"


def _chance(share: float | None, interval: Interval, worst: Estimate, best: Estimate) -> str:
    """Return a chance with its interval; of one that is not known where it lies, whatever unknown trials would be."""
    (least, *_), (most, *_), (low, high) = worst, best, interval
    if share is None and least is not None and most is not None:
        return f"{least:.1%} to {most:.1%}"
    return percent(share) + ("" if low is None or high is None else f" (95 % CI {low:.1%} to {high:.1%})")
