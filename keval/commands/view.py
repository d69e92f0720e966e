"""Show a log as live pages in your browser: samples side by side, failures, SQL."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from keval.commands.messages import say, warn
from keval.commands.options import PATH_OR_STDIN, SKIP_INVALID
from keval.errors import UsageError
from keval.logs.folder import newest_log
from keval.logs.outputs import STDIN


@click.command(epilog="Example: keval view run.jsonl --open '/samples?kind=timeout'")
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=PATH_OR_STDIN)
@click.option("--open", "page", metavar="PAGE", default="/", show_default=True,
              help="The page that the address leads to, as its foot says it.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT",
              help="Serve on this port of 127.0.0.1 (default: a free one).")  # fmt: skip
@SKIP_INVALID
def command(logs: tuple[Path, ...], page: str, port: int, skip_invalid: bool) -> None:
    """Show logs as live pages.

    Reads logs, or the newest log of this folder, and prints an address on this machine, which opens
    the pages once, in one browser. They are served until Ctrl-C. A running `keval generate` goes
    on: pages say what is new, and show it at a click. Nothing is written to a log, the pages run no
    script, and nobody else can read them.
    """
    from keval.viewer import addresses
    from keval.viewer.serving import served, wait_until_stopped

    if not addresses.is_own(page):
        raise UsageError(f"--open {page!r}: a page is a path such as '/samples?kind=timeout'")
    if STDIN in logs:
        raise UsageError("stdin is read once and cannot be followed; name a log")
    named = logs or (_newest(),)
    with served(named, warn, port=port, page=page, skip_invalid=skip_invalid) as address:
        say(address)
        sys.stdout.flush()  # before the wait, also into a pipe
        warn(f"this address opens {', '.join(map(str, named))} once, in one browser; Ctrl-C ends it")
        wait_until_stopped()


def _newest() -> Path:
    log = newest_log(Path())
    warn(f"reading {log}, the newest log of this folder")
    return log
