"""Look for secrets in logs before they are shared."""

from __future__ import annotations

import os
from pathlib import Path

import click

from keval.leaks import look
from keval.options import SKIP_INVALID, warn
from keval.outputs import check_stdout
from keval.stream import read


@click.command(epilog="Example: keval scan run.jsonl && gzip run.jsonl")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path))
@SKIP_INVALID
@click.pass_context
def command(context: click.Context, logs: tuple[Path, ...], skip_invalid: bool) -> None:
    """Look for what may be a key, a token or a password.

    Prints file, line, path and what was found, never the secret itself. Exit code 1 when something
    was found. A clean result is no proof: only known forms of keys are found, and the values of this
    environment's variables whose names sound like secrets.
    """
    check_stdout(logs, "write to another file")
    number = 0
    for log in logs:
        for line in read(log, warn, skip_invalid=skip_invalid):
            for leak in look(line.event, os.environ):
                click.echo(f"{log}:{line.number}: {leak.path}: {leak.what}")
                number += 1
    warn(f"{number} places to look at" if number else "nothing found")
    context.exit(1 if number else 0)
