"""Take events out of every projection, with a reason; nothing is deleted."""

from __future__ import annotations

from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import APPENDED_LOG, SKIP_INVALID
from keval.errors import UsageError
from keval.events import event, new_run_id
from keval.execution.appending import append_all
from keval.execution.run_events import bare_run_event
from keval.ids import digest
from keval.logs.retraction import find_targets


@click.command(epilog='Example: keval retract run.jsonl 3f9a2c… --reason "the question was ambiguous"')
@APPENDED_LOG
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", required=True, help="Why the events shall not count.")
@click.option("--author", help="Who says so.")
@SKIP_INVALID
def command(log: Path, ids: tuple[str, ...], reason: str, author: str | None, skip_invalid: bool) -> None:
    """Append events that take earlier ones out of every projection.

    A retracted response takes its judgments along, and `generate` asks for it again. Each ID may be
    the beginning of an id, if only one event has it; where one is wrong nothing is written.
    """
    for name, said in (("--reason", reason), ("--author", author)):
        if said is not None and not said.strip():
            raise UsageError(f"{name} is empty; nothing was retracted")
    found = find_targets(log, ids, warn, skip_invalid=skip_invalid)
    for target in found:
        if target.is_retracted:
            warn(f"{target.id} is retracted already; {'nothing' if len(found) == 1 else 'nothing of it'} was written")
    new = [target.id for target in found if not target.is_retracted]
    if not new:
        return
    run_id = new_run_id()
    made = [
        event("retraction", digest("retraction", each, run_id), run_id, target=each, reason=reason, author=author)
        for each in new
    ]
    append_all(log, (), bare_run_event("retract", run_id), made, warn)
    for each in new:
        warn(f"retracted {each}")
