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

TITLES: tuple[str, ...] = ("log", "answers", "judgments", "newest", "state", "conditions")
NUMBERS = ("answers", "judgments")


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
    unreadable, rows = 0, [TITLES]
    for log in logs:
        try:
            found = _overview(log)
        except KevalError as error:
            warn(error.problems[0])
            unreadable = error.exit_code
            rows.append((str(log), "–", "–", "–", "unreadable", ""))
            continue
        if form == "jsonl":
            say_json({"log": str(log), **found.as_json()})
        rows.append(_cells(str(log), found))
    if form == "text" and logs:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            say(_row(row, widths))
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
    """Return cells side by side, numbers to the right."""
    sides = (str.rjust if title in NUMBERS else str.ljust for title in TITLES)
    return "  ".join(side(cell, width) for side, cell, width in zip(sides, cells, widths, strict=True)).rstrip()
