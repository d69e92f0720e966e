"""Say how far judges, their replicates and people agree about the same answers, and what a judge is biased by."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from keval import projections
from keval.commands import caveats
from keval.commands.messages import say_json, warn
from keval.commands.newest import chosen
from keval.commands.options import EVERYTHING, LOGS, SEED, SKIP_INVALID
from keval.exports import _agreement
from keval.exports.markdown import Markdown
from keval.exports.text import Text
from keval.logs.collect import check_not_empty, collected
from keval.reports import agreement, judge_diagnostics
from keval.reports.agreement import Raters, agreements, is_mock, judge_variations, without_common_metric
from keval.reports.judge_diagnostics import diagnostics
from keval.reports.model import BANNER
from keval.stats import stopped_run

HEADING = "keval agreement"

READ = {*caveats.READ_FOR_SEVERAL, *stopped_run.READ, *agreement.READ, *judge_diagnostics.READ}
"""The tables and views that are asked."""


@click.command(epilog="Example: keval agreement run.jsonl --judges rubric stricter")
@LOGS
@click.option("--judges", nargs=2, metavar="A B", help="Compare these two judges, by name or beginning of their id.")
@click.option("--replicates", is_flag=True, help="Compare the judgments that one judge made of one answer.")
@click.option("--labels", is_flag=True, help="Compare judges with people's scores, and people with each other.")
@click.option("--diagnostics", "with_diagnostics", is_flag=True,
              help="Check if scores depend on length, order, own model, time or the end of the scale.")  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, help="Random seed of the resampled intervals.")
@click.option("-f", "--format", "written", type=click.Choice(["text", "markdown", "json"]), default="text",
              show_default=True, help="For people or for programs.")  # fmt: skip
@EVERYTHING
@SKIP_INVALID
def command(
    logs: tuple[Path, ...],
    judges: tuple[str, str] | None,
    replicates: bool,
    labels: bool,
    with_diagnostics: bool,
    seed: int,
    written: str,
    everything: bool,
    skip_invalid: bool,
) -> None:
    """Say how far judges, their replicates and people agree about the same answers.

    Reads logs, or stdin; where nothing is piped in, the newest log of this folder. Without
    --judges, --replicates and --labels, whatever the log holds is compared. Scores are compared of
    the same answer by metrics of the same name and scale; people's are those of `keval label
    --scores`.
    """
    raters = Raters(judges, replicates, labels, seed)
    with collected(chosen(logs), warn, skip_invalid=skip_invalid) as files:
        check_not_empty(files)
        with projections.connect(files, everything=everything, tools=False, asked=READ) as connection:
            caveats.warn_of_several(connection)
            caveats.warn_of_stopped(connection)
            found = agreements(connection, raters)
            if judges is not None and (told := without_common_metric(connection, judges)) is not None:
                warn(told)
            variations = judge_variations(connection) if raters.takes_replicates else ()
            looked = diagnostics(connection) if with_diagnostics else None
            banner = BANNER if is_mock(connection) else None
    if written == "json":
        everything_said = {
            "mock": banner is not None,
            "seed": seed,
            "agreements": found,
            "judge_variations": variations,
            "diagnostics": looked,
        }
        say_json(everything_said, orjson.OPT_INDENT_2)
        return
    parts = _agreement.sections(found, variations, looked)
    drawn = (Text() if written == "text" else Markdown()).draw(HEADING, parts, banner)
    click.echo(drawn, nl=False)
