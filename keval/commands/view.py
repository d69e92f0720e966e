"""Show a log as live pages in your browser: samples side by side, failures, SQL."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval.commands.messages import say, warn
from keval.commands.newest import newest
from keval.commands.options import PATH_OR_STDIN, SKIP_INVALID, matching_files
from keval.errors import UsageError
from keval.logs.outputs import STDIN

if TYPE_CHECKING:
    from keval.viewer.labelling import Labelling

DRAWN = 10
"""Answers that are drawn to be scored, unless somebody says how many."""


@click.command(epilog="Example: keval view run.jsonl --open '/samples?kind=timeout'")
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=PATH_OR_STDIN, callback=matching_files)
@click.option("--open", "page", metavar="PAGE", default="/", show_default=True,
              help="The page to begin with, as its foot says it.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT",
              help="Serve on this port of 127.0.0.1 (default: a free one).")  # fmt: skip
@click.option("--label", "labeler", metavar="NAME",
              help="Add a page on which NAME scores answers drawn at random, blindly, into the log.")  # fmt: skip
@click.option("-n", "--n", "--number", "number", type=click.IntRange(min=1), metavar="N",
              help="With --label: how many answers to draw (default: 10).")  # fmt: skip
@SKIP_INVALID
def command(
    logs: tuple[Path, ...], page: str, port: int, labeler: str | None, number: int | None, skip_invalid: bool
) -> None:
    """Show logs as live pages.

    Reads logs, or the newest log of this folder, and prints an address on this machine, which opens
    the pages once, in one browser. They are served until Ctrl-C. A running `keval generate` goes
    on: pages say what is new, and show it at a click. Nothing but labels with --label is written to
    a log, the pages run no script, and nobody else can read them.
    """
    from keval.viewer import addresses
    from keval.viewer.serving import served, wait_until_stopped

    if not addresses.is_own(page):
        raise UsageError(f"--open {page!r}: a page is a path such as '/samples?kind=timeout'")
    if STDIN in logs:
        raise UsageError("stdin is read once and cannot be followed; name a log")
    named = logs or (newest(),)
    labelling = _labelling(named, labeler, number, skip_invalid=skip_invalid)
    with served(named, warn, port=port, page=page, skip_invalid=skip_invalid, labelling=labelling) as address:
        say(address)
        sys.stdout.flush()  # before the wait, also into a pipe
        warn(f"this address opens {', '.join(map(str, named))} once, in one browser; Ctrl-C ends it")
        wait_until_stopped()


def _labelling(
    logs: Sequence[Path], labeler: str | None, number: int | None, *, skip_invalid: bool
) -> Labelling | None:
    from keval.viewer.labelling import Labelling

    if labeler is None:
        if number is not None:
            raise UsageError("-n goes with --label")
        return None
    if len(logs) > 1:
        raise UsageError("--label writes to one log; name one")
    return Labelling.of(logs[0], labeler, DRAWN if number is None else number, warn, skip_invalid=skip_invalid)
