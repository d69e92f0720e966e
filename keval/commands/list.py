"""List the logs of a folder: how many answers, which conditions, how new, complete or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from keval import projections
from keval.commands.messages import say, say_json, warn
from keval.commands.options import PATH
from keval.errors import KevalError
from keval.logs.collect import collected
from keval.logs.folder import logs_of
from keval.reports.overview import READ, Overview, overview

TITLES = ("log", "answers", "judgments", "newest", "state", "conditions")


@click.command(epilog="Example: keval list")
@click.argument("folder", metavar="[FOLDER]", type=PATH, default=".")
@click.option("-f", "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True,
              help="For people, or one JSON object per log.")  # fmt: skip
@click.pass_context
def command(context: click.Context, folder: Path, form: str) -> None:
    """List the logs of a folder (this one, unless another is named), the newest first.

    A log is a .jsonl file with an event among its first lines. Counted is what its newest plan asks for. Exit
    code 3 if one of them cannot be read; the others are listed.
    """
    logs = logs_of(folder)
    if not logs:
        warn(f"no logs in {folder}")
    names = [str(log) for log in logs]
    widths = (max([3, *map(len, names)]), 7, 9, 16, 42)
    if form == "text" and logs:
        say(_row(TITLES, widths))
    unreadable = 0
    for log, name in zip(logs, names, strict=True):
        try:
            found = _overview(log)
        except KevalError as error:
            warn(error.problems[0])
            unreadable = error.exit_code
            if form == "text":
                say(_row((name, "–", "–", "–", "unreadable", ""), widths))
            continue
        if form == "jsonl":
            say_json({"log": name, **found.as_json()})
        else:
            say(_row(_cells(name, found), widths))
    context.exit(unreadable)


def _overview(log: Path) -> Overview:
    with (
        collected([log], warn) as files,
        projections.connect(files, texts=False, tools=False, asked=READ) as connection,
    ):
        return overview(connection)


def _cells(name: str, found: Overview) -> tuple[str, ...]:
    newest = "–" if found.newest is None else found.newest[:16].replace("T", " ")
    conditions = ", ".join(found.conditions) + (" (MOCK)" if found.mock else "")
    return name, f"{found.answers:,}", f"{found.judgments:,}", newest, found.state, conditions


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return cells side by side: numbers to the right, the last cell as long as it is."""
    log, answers, judgments, *others, last = cells
    first, second, third, *widths_of_others = widths
    parts = [log.ljust(first), answers.rjust(second), judgments.rjust(third)]
    parts += [cell.ljust(width) for cell, width in zip(others, widths_of_others, strict=True)]
    return "  ".join([*parts, last]).rstrip()
