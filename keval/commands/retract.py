"""Take an event out of every projection, with a reason; nothing is deleted."""

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
from keval.logs.retraction import find_target


@click.command(epilog='Example: keval retract run.jsonl 3f9a2c… --reason "the question was ambiguous"')
@APPENDED_LOG
@click.argument("target", metavar="ID")
@click.option("--reason", required=True, help="Why the event shall not count.")
@click.option("--author", help="Who says so.")
@SKIP_INVALID
def command(log: Path, target: str, reason: str, author: str | None, skip_invalid: bool) -> None:
    """Append an event that takes an earlier one out of every projection.

    A retracted response takes its judgments along, and `generate` asks for it again. ID may be the
    beginning of an id, if only one event has it.
    """
    for name, said in (("--reason", reason), ("--author", author)):
        if said is not None and not said.strip():
            raise UsageError(f"{name} is empty; nothing was retracted")
    found, is_retracted = find_target(log, target, warn, skip_invalid=skip_invalid)
    if is_retracted:
        warn(f"{found} is retracted already; nothing was written")
        return
    run_id = new_run_id()
    made = event("retraction", digest("retraction", found, run_id), run_id, target=found, reason=reason, author=author)
    append_all(log, (), bare_run_event("retract", run_id), [made], warn)
    warn(f"retracted {found}")
