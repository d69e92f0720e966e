"""Take events out of every projection, with a reason; nothing is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import APPENDED_LOG, SKIP_INVALID
from keval.counted import counted
from keval.errors import UsageError
from keval.events import event, new_run_id
from keval.execution.appending import append_all
from keval.execution.run_events import bare_run_event
from keval.ids import JsonObject, digest
from keval.logs.retraction import find_targets, written_by

Retraction = tuple[Sequence[str], Sequence[JsonObject], Sequence[str]]
"""The ids that are retracted, the events that are appended again, and what is said then."""

MOST_NAMED = 10
"""So many ids are named; of more their number is said."""


@click.command(epilog='Example: keval retract run.jsonl 3f9a2c… --reason "the question was ambiguous"')
@APPENDED_LOG
@click.argument("ids", metavar="[ID...]", nargs=-1)
@click.option("--run", "run_id", metavar="RUN_ID", help="All that a run wrote, instead of single events.")
@click.option("--reason", required=True, help="Why these events should not count.")
@click.option("--author", help="Who says so.")
@SKIP_INVALID
def command(
    log: Path, ids: tuple[str, ...], run_id: str | None, reason: str, author: str | None, skip_invalid: bool
) -> None:
    """Append events that take earlier ones out of every projection.

    A retracted response takes its judgments along, and `generate` asks for it again. Each ID may be
    the beginning of an id, if only one event has it; where one is wrong nothing is written. With
    --run all answers, failures, judgments and labels are retracted that a run wrote, and what it
    took the place of is appended again, so that it counts as before.
    """
    for name, said in (("--reason", reason), ("--author", author)):
        if said is not None and not said.strip():
            raise UsageError(f"{name} is empty; nothing was retracted")
    if bool(ids) == (run_id is not None):
        raise UsageError("give the IDs of events, or --run with the id of a run")
    found = (
        _of_ids(log, ids, skip_invalid=skip_invalid)
        if run_id is None
        else _of_run(log, run_id, skip_invalid=skip_invalid)
    )
    targets, replaced, told = found
    if targets:
        own = new_run_id()
        made = [
            event("retraction", digest("retraction", each, own), own, target=each, reason=reason, author=author)
            for each in targets
        ]
        append_all(log, (), bare_run_event("retract", own), [*made, *replaced], warn)
    for line in told:
        warn(line)


def _of_ids(log: Path, ids: Sequence[str], *, skip_invalid: bool) -> Retraction:
    """Return what the retraction of single events is."""
    found = find_targets(log, ids, warn, skip_invalid=skip_invalid)
    for target in found:
        if target.is_retracted:
            warn(f"{target.id} is retracted already; {'nothing' if len(found) == 1 else 'nothing of it'} was written")
    new = [target for target in found if not target.is_retracted]
    told = [f"retracted {each.id}" for each in new] if len(new) <= MOST_NAMED else [f"retracted {len(new):,} events"]
    if replacing := sum(each.earlier > 0 for each in new):
        told.append(
            f"{replacing:,} of them had replaced earlier events of the same id, which do not count either; "
            "`keval retract LOG --run RUN_ID` lets those count again that a run replaced"
        )
    return [each.id for each in new], [], told


def _of_run(log: Path, prefix: str, *, skip_invalid: bool) -> Retraction:
    """Return what the retraction of all is that a run wrote."""
    found = written_by(log, prefix, warn, skip_invalid=skip_invalid)
    if not found.keys:
        return [], [], [f"of run {found.run_id} nothing counts that could be retracted; nothing was written"]
    told = [f"retracted {_counts(kind for kind, _ in found.keys)} of run {found.run_id}"]
    if found.replaced:
        told.append(f"{_counts(each['type'] for each in found.replaced)} from before it count again")
    return list(dict.fromkeys(known for _, known in found.keys)), found.replaced, told


def _counts(kinds: Iterable[str]) -> str:
    return ", ".join(counted(times, kind) for kind, times in Counter(kinds).items())
