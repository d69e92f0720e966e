"""Take events out of every projection, with a reason; nothing is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import click

from keval.commands.messages import warn
from keval.commands.options import APPENDED_LOG, SKIP_INVALID
from keval.counted import counted
from keval.errors import UsageError
from keval.events import event, new_run_id
from keval.execution.appending import append_all
from keval.ids import JsonObject, digest
from keval.logs.retraction import find_targets
from keval.logs.run_retraction import written_by
from keval.preparation.bare_run import bare_run_event


class _Retraction(NamedTuple):
    targets: Sequence[str]
    """Ids."""
    restored: Sequence[JsonObject]
    """Events that are appended again."""
    told: Sequence[str]
    """What is said then."""


STAGES_OF_RUNS = ("generate", "judge")
"""What no other command may do when a run is retracted: of a run that still writes only a part would be."""

MOST_NAMED = 10
"""So many ids are named; of more their number is said."""


@click.command(epilog='Example: keval retract run.jsonl 3f9a2c… --reason "the question was ambiguous"')
@APPENDED_LOG
@click.argument("ids", metavar="[ID...]", nargs=-1)
@click.option("--run", "runs", metavar="RUN_ID", multiple=True,
              help="All that a run wrote, instead of single events; may be repeated.")  # fmt: skip
@click.option("--reason", required=True, help="Why these events should not count.")
@click.option("--author", help="Who says so.")
@SKIP_INVALID
def command(
    log: Path, ids: tuple[str, ...], runs: tuple[str, ...], reason: str, author: str | None, skip_invalid: bool
) -> None:
    """Append events that take earlier ones out of every projection.

    A retracted response takes its judgments along, and `generate` asks for it again. Each ID may be
    the beginning of an id, if only one event has it; where one is wrong nothing is written. With
    --run all answers, failures, judgments and labels are retracted that a run wrote, and what it
    took the place of is appended again, so that it counts as before. What the run planned stays
    the newest plan until a config is run again.
    """
    for name, said in (("--reason", reason), ("--author", author)):
        if said is not None and not said.strip():
            raise UsageError(f"{name} is empty; nothing was retracted")
    if bool(ids) == bool(runs):
        raise UsageError("give the IDs of events, or --run with the id of a run")
    if not all(each.strip() for each in (*ids, *runs)):
        raise UsageError("an id is empty, and every id begins so; nothing was retracted")
    found = (_of_runs if runs else _of_ids)(log, runs or ids, skip_invalid=skip_invalid)
    if found.targets or found.restored:
        own = new_run_id()
        made = [
            event("retraction", digest("retraction", each, own), own, target=each, reason=reason, author=author)
            for each in found.targets
        ]
        append_all(log, STAGES_OF_RUNS if runs else (), bare_run_event("retract", own), [*made, *found.restored], warn)
    for line in found.told:
        warn(line)


def _of_ids(log: Path, ids: Sequence[str], *, skip_invalid: bool) -> _Retraction:
    """Return what the retraction of single events is."""
    found = find_targets(log, ids, warn, skip_invalid=skip_invalid)
    for target in found:
        if target.is_retracted:
            warn(f"{target.id} is retracted already; {'nothing' if len(found) == 1 else 'nothing of it'} was written")
    new = [target for target in found if not target.is_retracted]
    told = [f"retracted {each.id}" for each in new] if len(new) <= MOST_NAMED else [f"retracted {len(new):,} events"]
    if replacing := sum(each.has_earlier for each in new):
        had = "it had" if len(new) == 1 else f"{replacing:,} of them had"
        told.append(
            f"{had} replaced earlier events of the same id, which do not count either; "
            "`keval retract LOG --run RUN_ID` lets those count again that a run replaced"
        )
    return _Retraction([each.id for each in new], (), told)


def _of_runs(log: Path, prefixes: Sequence[str], *, skip_invalid: bool) -> _Retraction:
    """Return what the retraction of all is that runs wrote."""
    found = written_by(log, prefixes, warn, skip_invalid=skip_invalid)
    named = f"run{'s' if len(found.run_ids) > 1 else ''} {', '.join(found.run_ids)}"
    told = [f"retracted {_counts(kind for kind, _ in found.retracted)} of {named}"] if found.retracted else []
    if found.restored:
        counting = (each["type"].replace("_", " ") for each in found.restored)
        told.append(f"appended again, to count as before: {_counts(counting)}")
    if any(kind == "response" for kind, _ in found.retracted):
        told.append(
            f"what was planned stays the newest plan: where another config, or its agent as it was before, shall count "
            f"again, `keval generate CONFIG -o {quote(str(log))}` with these files says so, and asks only for what is "
            "missing; for imported answers it is `keval import` of their file"
        )
    if not told:
        told.append(f"of {named} nothing counts that could be retracted; nothing was written")
    if found.changed_samples:
        stay = "stays" if found.changed_samples == 1 else "stay"
        told.append(
            f"{counted(found.changed_samples, 'sample')} {stay} as {named} recorded a change of the dataset: with the "
            f"former one `keval generate CONFIG --no-retry-failed -o {quote(str(log))}`, or the import, takes it back"
        )
    if found.replaced:
        told.append(
            f"{counted(found.replaced, 'event')} of {named} had been replaced by later runs; to retract one of these, "
            "too, name both at once, or what it replaced counts again"
        )
    return _Retraction(list(dict.fromkeys(known for _, known in found.retracted)), found.restored, told)


def _counts(kinds: Iterable[str]) -> str:
    return ", ".join(counted(times, kind) for kind, times in Counter(kinds).items())
