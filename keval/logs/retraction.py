"""Finds the event that a user wants to retract."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from keval.errors import UsageError, Warn
from keval.logs.stream import read

NOT_RETRACTABLE = ("run", "plan", "sample_change", "until_rule", "until_decided", "until_end")
"""Types of events that say what a run was and planned: the next run makes them anew."""


class Target(NamedTuple):
    """An event that is to be retracted."""

    id: str
    is_retracted: bool
    """Whether a retraction already took back its last event."""


def find_target(log: Path, prefix: str, warn: Warn, *, skip_invalid: bool) -> Target:
    """Return the event whose id is `prefix`, or else the only one whose id begins with it.

    Raises UsageError for none and for several.
    """
    retracted: dict[str, bool] = {}
    types: dict[str, str] = {}
    for line in read(log, warn, skip_invalid=skip_invalid):
        retracted[line.event["id"]] = False
        types[line.event["id"]] = line.event["type"]
        if line.event["type"] == "retraction":
            retracted[line.event["target"]] = True
    ids = [prefix] if prefix in retracted else [found for found in retracted if found.startswith(prefix)]
    if len(ids) != 1:
        what = "no event" if not ids else f"{len(ids)} events"
        raise UsageError(f"{log}: {what} with an id that begins with {prefix!r}")
    if types.get(ids[0]) in NOT_RETRACTABLE:
        raise UsageError(f"{log}: {ids[0]} is a {types[ids[0]]} event, which cannot be retracted; run the config again")
    if types.get(ids[0]) == "retraction":
        raise UsageError(f"{log}: {ids[0]} is a retraction, which cannot be retracted; what it took back is made anew")
    return Target(ids[0], retracted[ids[0]])
