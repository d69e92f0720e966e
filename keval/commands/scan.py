"""Look for secrets in logs before they are shared."""

from __future__ import annotations

import os
from pathlib import Path

import click

from keval.commands.messages import say, warn
from keval.commands.options import PATH_OR_STDIN, SKIP_INVALID, matching_files
from keval.counted import counted
from keval.logs.outputs import check_stdout
from keval.logs.secret_scan import scan_log
from keval.secrets.scanner import Scanner


@click.command(epilog="Example: keval scan run.jsonl && gzip run.jsonl")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=PATH_OR_STDIN, callback=matching_files)
@SKIP_INVALID
@click.pass_context
def command(context: click.Context, logs: tuple[Path, ...], skip_invalid: bool) -> None:
    """Look for what may be a key, a token or a password.

    Reads logs (- is stdin). Prints file, line, path and what was found, never the secret itself.
    Exit code 1 when something was found. A clean result is no proof: only known forms of keys are
    found, and the values of this environment's variables whose names sound like secrets, as they
    are and as JSON, URLs, HTML, base64 and hex spell them. Lines that are left out as invalid are
    looked through as text.
    """
    check_stdout(logs, "write to another file")
    scanner = Scanner(os.environ)
    number = 0
    for log in logs:
        for line, finding in scan_log(log, scanner, warn, skip_invalid=skip_invalid):
            say(f"{log}:{line}: {finding.path}: {finding.what}")
            number += 1
    if number:
        warn(f"{counted(number, 'place')} to look at; have a key that is one replaced where it was issued")
        warn("a log keeps its lines: to share it, keval retract LOG ID, then keval export, which leaves them out")
    else:
        warn("nothing found")
    context.exit(1 if number else 0)
