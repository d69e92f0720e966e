"""Copy a closed log to a folder or to object storage."""

from __future__ import annotations

from pathlib import Path

import click

from keval.commands.messages import say, warn
from keval.commands.options import INPUT_FILE


@click.command(epilog="Example: keval push run.jsonl s3://bucket/runs/")
@click.argument("log", metavar="LOG", type=INPUT_FILE)
@click.argument("destination", metavar="DEST")
def command(log: Path, destination: str) -> None:
    """Copy a closed log to a folder or to object storage.

    DEST is a file, a folder, or an address such as s3://bucket/runs/, for which the extra s3 is
    needed. Beside the copy stands its SHA-256 for `sha256sum -c`, which is printed, too. Every line
    is checked first, and a log that a command is writing to is refused. What is there is never
    replaced: the same log is left as it is, and another one is an error (exit code 2).
    """
    from keval.logs.push import push

    pushed = push(log, destination)
    if not pushed.is_new:
        warn(f"{pushed.place}: was there already, with the same content")
    say(f"{pushed.sha256}  {pushed.place}")
