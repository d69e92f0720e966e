"""Finds the events that a user wants to retract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
    has_earlier: bool
    """Whether its last event replaced others, which will not count either."""


def find_targets(log: Path, prefixes: Sequence[str], warn: Warn, *, skip_invalid: bool) -> list[Target]:
    """Return for each prefix the event whose id it is, or else the only one whose id begins with it; each event once.

    Raises UsageError that lists all prefixes of none, of several, and of what cannot be retracted.
    """
    standing: Counter[str] = Counter()
    types: dict[str, str] = {}
    wanted = tuple(prefixes)
    for line in read(log, warn, skip_invalid=skip_invalid):
        if line.event["id"].startswith(wanted):
            standing[line.event["id"]] += 1
            types[line.event["id"]] = line.event["type"]
        if line.event["type"] == "retraction" and line.event["target"].startswith(wanted):
            standing[line.event["target"]] = 0
    found: dict[str, Target] = {}
    problems: list[str] = []
    for prefix in prefixes:
        ids = [prefix] if prefix in standing else [each for each in standing if each.startswith(prefix)]
        if problem := _problem(prefix, ids, types):
            problems.append(f"{log}: {problem}")
        else:
            events = standing[ids[0]]
            found[ids[0]] = Target(ids[0], not events, events > 1)
    if problems:
        raise UsageError(*problems)
    return list(found.values())


def _problem(prefix: str, ids: Sequence[str], types: Mapping[str, str]) -> str | None:
    """Return why there is not one event to be retracted, or None."""
    if len(ids) != 1:
        what = f"{len(ids)} events" if ids else "no event"
        return f"{what} with an id that begins with {prefix!r}"
    found = types.get(ids[0])
    if found in NOT_RETRACTABLE:
        instead = "`--run` retracts what a run wrote" if found == "run" else "run the config again"
        return f"{ids[0]} is a {found} event, which cannot be retracted; {instead}"
    if found == "retraction":
        return f"{ids[0]} is a retraction, which cannot be retracted; what it took back is made anew"
    return None
