"""Take an event out of every projection, with a reason; nothing is deleted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import SKIP_INVALID
from keval.errors import UsageError
from keval.events import event, new_run_id
from keval.execution import interrupt
from keval.execution.run_events import bare_run_event
from keval.ids import digest
from keval.logs.stream import Announced, read
from keval.logs.writer import open_log


@click.command(epilog='Example: keval retract run.jsonl 3f9a2c… --reason "the question was ambiguous"')
@click.argument("log", metavar="LOG", type=click.Path(path_type=Path))
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
    found, retracted = _target(log, target, skip_invalid=skip_invalid)
    if retracted:
        warn(f"{found} is retracted already; nothing was written")
        return
    run_id = new_run_id()
    made = event("retraction", digest("retraction", found, run_id), run_id, target=found, reason=reason, author=author)
    with open_log(log, (), warn) as opened:

        async def main(_: asyncio.Event) -> None:
            await Announced(opened, bare_run_event("retract", run_id)).append(made)

        interrupt.run(main, warn)
    warn(f"retracted {found}")


def _target(log: Path, prefix: str, *, skip_invalid: bool) -> tuple[str, bool]:
    """Return the one id in a log that begins so, and whether its last event is retracted already. Raises UsageError."""
    retracted: dict[str, bool] = {}
    for line in read(log, warn, skip_invalid=skip_invalid):
        retracted[line.event["id"]] = False
        if line.event["type"] == "retraction":
            retracted[line.event["target"]] = True
    ids = [prefix] if prefix in retracted else [found for found in retracted if found.startswith(prefix)]
    if len(ids) != 1:
        what = "no event" if not ids else f"{len(ids)} events"
        raise UsageError(f"{log}: {what} with an id that begins with {prefix!r}")
    return ids[0], retracted[ids[0]]
