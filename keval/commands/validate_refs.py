"""Let the judges judge the dataset's own references, and name those that they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from pathlib import Path

import click

from keval import projections
from keval.commands.messages import say, say_json, warn
from keval.commands.options import CONFIG, LIMIT, OUTPUT, PASS_FROM, SKIP_INVALID, RequestContext, requesting
from keval.config.reader import load
from keval.execution.references import judge_references, references_log
from keval.logs.collect import collected
from keval.logs.outputs import check_stdout
from keval.metric_names import full_name
from keval.reports.references import READ, References, Verdict, references
from keval.reports.thresholds import Scale, thresholds


@click.command(epilog="Example: keval validate-refs eval.yaml --mock")
@CONFIG
@OUTPUT
@click.option("-f", "--format", "written", type=click.Choice(["text", "jsonl"]), default="text", show_default=True,
              help="For people, or one JSON object per reference, judge and metric.")  # fmt: skip
@PASS_FROM
@requesting(LIMIT, SKIP_INVALID)
@click.pass_context
def command(
    context: click.Context,
    config_path: Path,
    output: Path | None,
    written: str,
    pass_from: Mapping[str, float],
    asked: RequestContext,
) -> None:
    """Let the judges judge the dataset's own references, and name those that they refuse.

    Each sample's `reference` field, else its golden answer, is judged as if the agent had said it. A
    reference that fails means that the question is ambiguous, the judge too strict, or the reference
    wrong: find out before answers are paid for. The judgments stand in a log of their own,
    <name>.refs.jsonl, and are paid once. Exit code 1 if a reference failed, or no judge could say
    anything of it.
    """
    config = load(config_path)
    pass_from = thresholds(pass_from, starmap(Scale, config.scales))  # before anything is paid
    with asked as request:
        log = output or references_log(config, mock=request.mock)
        check_stdout((log, config_path, *(dataset.path for dataset in config.datasets)), "write to another file")
        judge_references(config, log, request, warn)
    skip_invalid = request.skip_invalid
    with (
        collected([log], lambda _: None, skip_invalid=skip_invalid) as files,
        projections.connect(files, tools=False, asked=READ) as connection,
    ):
        found = references(connection, pass_from)
    for name in found.undecided:
        warn(f"{name}: nothing says which score passes, so it fails no reference; --pass-from {name}=SCORE does")
    if written == "jsonl":
        for verdict in found.verdicts:
            say_json(verdict.as_json())
    else:
        _print(found)
    context.exit(1 if found.refused or found.unjudged else 0)


def _print(found: References) -> None:
    for verdict in found.refused:
        say(f"FAILED     {verdict.sample_id}: {_described(verdict)}")
    for sample_id, verdict in found.unjudged.items():
        say(f"NOT JUDGED {sample_id}: {full_name(verdict.judge, verdict.metric or '')}: {_one_line(verdict.reason)}")
    refused = len({verdict.sample_id for verdict in found.refused})
    unjudged = f", not judged: {len(found.unjudged)}" if found.unjudged else ""
    say(f"references: {found.number}, failed: {refused}{unjudged}")


def _described(verdict: Verdict) -> str:
    reason = _one_line(verdict.reason)
    if verdict.failure is not None:
        return f"{verdict.judge} could not judge it ({verdict.failure}): {reason}"
    needed = "" if verdict.pass_from is None else f", passes from {verdict.pass_from:g}"
    return f"{verdict.judge}/{verdict.metric} {verdict.score:g}{needed}: {reason}"


def _one_line(reason: str | None) -> str:
    return " ".join((reason or "no reason given").split())
