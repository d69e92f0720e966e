"""Show each answer of a log in short: question, beginning of the answer, verdict, scores, tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from keval import projections
from keval.commands import caveats
from keval.commands.messages import say, say_json, warn
from keval.commands.newest import chosen
from keval.commands.options import LOGS, PASS_FROM, SKIP_INVALID
from keval.logs.collect import check_named_not_empty, collected
from keval.projections.log_file import LogFile
from keval.reports import trials
from keval.reports.summaries import summaries


@click.command(epilog="Example: keval summarize run.jsonl | jq 'select(.pass == false)'")
@LOGS
@click.option("-f", "--format", "written", type=click.Choice(["jsonl", "markdown"]), default="jsonl", show_default=True,
              help="A JSON object per answer, or a section of Markdown.")  # fmt: skip
@PASS_FROM
@SKIP_INVALID
def command(logs: tuple[Path, ...], written: str, pass_from: Mapping[str, float], skip_invalid: bool) -> None:
    """Show each answer of a log in short: question, beginning of the answer, verdict, scores, tools.

    Reads logs, or stdin; where nothing is piped in, the newest log of this folder. A log of
    megabytes becomes one that a person, or a model, can read through. Shown is what the newest plan
    asks for, failures included; an answer passes if every metric that decides says so.
    """
    read = chosen(logs)
    with collected(read, warn, skip_invalid=skip_invalid) as files:
        check_named_not_empty(read, files)
        _print(files, written, pass_from)


def _print(files: Sequence[LogFile], written: str, pass_from: Mapping[str, float]) -> None:
    asked = {*trials.READ, *caveats.READ_FOR_SEVERAL, *caveats.READ_FOR_MOCK}
    with projections.connect(files, texts=False, tools=False, asked=asked) as connection:
        caveats.warn_of_several(connection)
        caveats.warn_of_mock(connection)
        for summary in summaries(connection, files, pass_from):
            if written == "jsonl":
                say_json(summary.as_json())
                continue
            for line in summary.as_markdown().split("\n"):
                say(line)
