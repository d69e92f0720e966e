"""Show one task as a person reads it: question, steps, answer, scores with reasons, cost."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
import orjson

from keval import projections
from keval.commands import caveats
from keval.commands.messages import warn
from keval.commands.named_logs import matching
from keval.commands.newest import chosen
from keval.commands.options import CHOSEN_CONDITIONS, CHOSEN_SAMPLES, PATH_OR_STDIN, SKIP_INVALID
from keval.commands.pager import paged, terminal
from keval.errors import UsageError
from keval.logs.collect import check_named_not_empty, collected
from keval.printable import printable_json
from keval.transcripts.drawing import Drawing
from keval.transcripts.selection import Selection, has_pairs
from keval.transcripts.transcript import Transcript, transcripts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


MOST_WORST = 10_000_000
"""Tasks that can be asked for: more than a log has, and a number that DuckDB takes."""


@click.command(epilog="Example: keval show run.jsonl --sample merge-logs --condition with_docs --repetition 1")
@click.argument("log", metavar="[LOG]", required=False, type=PATH_OR_STDIN)
@click.argument("event_id", metavar="[ID]", required=False)
@CHOSEN_SAMPLES
@CHOSEN_CONDITIONS
@click.option("--repetition", type=click.IntRange(min=1), metavar="N", help="Only the N-th answer to each sample.")
@click.option("--failed", is_flag=True, help="Only what the agent or a judge failed.")
@click.option("--answered", is_flag=True, help="Only what the agent answered.")
@click.option("--unverified", is_flag=True, help="Only answers in which a judge found claims that it could not verify.")
@click.option("--regressed", is_flag=True,
              help="Only samples that scored lower than under the baseline, with its answers.")  # fmt: skip
@click.option(
    "--worst", type=click.IntRange(1, MOST_WORST), metavar="N", help="Only the N tasks with the lowest scores."
)
@click.option("--metric", "metrics", metavar="[JUDGE/]METRIC", multiple=True,
              help="Let --worst and --regressed go by this metric; may be repeated (default: by all).")  # fmt: skip
@click.option("-f", "--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text",
              show_default=True, help="How the tasks are written; json is a list of them.")  # fmt: skip
@click.option("--full", is_flag=True, help="Show long texts to their end.")
@SKIP_INVALID
def command(
    log: Path | None,
    event_id: str | None,
    samples: tuple[str, ...],
    conditions: tuple[str, ...],
    repetition: int | None,
    failed: bool,
    answered: bool,
    unverified: bool,
    regressed: bool,
    worst: int | None,
    metrics: tuple[str, ...],
    form: str,
    full: bool,
    skip_invalid: bool,
) -> None:
    """Show one task as a person reads it, or several.

    Reads LOG (- is stdin), or where nothing is piped in the newest log of this folder. Which task:
    the beginning of an ID of an answer, failure, judgment or label, or any of the options; without
    them all that the newest plan asks for. --worst goes by the lowest score of each task, put on a
    scale from 0 to 1; failures that count as the worst score come first, unless --answered leaves
    them out. Of a sample that --regressed shows the answers of other conditions that scored no lower
    are left out. On a terminal a pager shows the text.
    """
    selection = Selection(
        event_id,
        samples,
        conditions,
        repetition,
        failed,
        answered=answered,
        unverified=unverified,
        regressed=regressed,
        worst=worst,
        metrics=metrics,
    )
    if event_id is not None and selection != Selection(event_id):
        raise UsageError("an ID says already which task is meant; leave the other options out, or the ID")
    if metrics and worst is None and not regressed:
        raise UsageError("--metric says by which scores --worst N and --regressed go; add one of them")
    read = chosen([] if log is None else matching([log]))
    with ExitStack() as open_:
        files = open_.enter_context(collected(read, warn, skip_invalid=skip_invalid))
        check_named_not_empty(read, files)
        asked = (*selection.read, *caveats.READ_FOR_SEVERAL)
        connection = open_.enter_context(projections.connect(files, tools=False, asked=asked))
        caveats.warn_of_several(connection)
        found = transcripts(connection, files, selection)
        first = next(found, None)
        if first is None:
            warn(_none_like(selection, connection))
        with paged() as out:
            _write(out, () if first is None else chain([first], found), form, full=full)


def _none_like(selection: Selection, connection: DuckDBPyConnection) -> str:
    """Return what is said where no task is chosen."""
    alone = replace(selection, worst=None, metrics=())
    if alone == Selection(failed=True):
        return "nothing failed"
    if alone != Selection(regressed=True):
        return "no task is like that"
    if has_pairs(connection):
        return "no sample scored lower than under the baseline"
    return "no sample has scores under the baseline and another one"


def _write(out: IO[str], found: Iterable[Transcript], form: str, *, full: bool) -> None:
    if form == "json":
        out.write("[")
        for number, transcript in enumerate(found):
            written = printable_json(orjson.dumps(transcript.as_json(), option=orjson.OPT_INDENT_2)).decode()
            out.write(f"{',' if number else ''}\n{written}")
        out.write("\n]\n")
        return
    shown_on = terminal()
    drawing = Drawing(
        markdown=form == "markdown",
        full=full,
        width=shown_on.width if shown_on else None,
        bold=shown_on is not None and shown_on.color,
    )
    for number, transcript in enumerate(found):
        out.write(("─" * 72 + "\n\n" if number and form == "text" else "") + drawing.draw(transcript))
