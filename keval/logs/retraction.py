"""Finds the events that a user wants to retract: by their ids, or all that a run wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keval.errors import UsageError, Warn
from keval.ids import JsonObject
from keval.logs.stream import read

NOT_RETRACTABLE = ("run", "plan", "sample_change", "until_rule", "until_decided", "until_end")
"""Types of events that say what a run was and planned: the next run makes them anew."""


WRITTEN = ("response", "failure", "judgment", "label")
"""Types of events that are retracted with the run that wrote them."""

Key = tuple[str, str]
"""The type of an event, and its id."""


class Target(NamedTuple):
    """An event that is to be retracted."""

    id: str
    is_retracted: bool
    """Whether a retraction already took back its last event."""
    earlier: int
    """How many earlier events of its id were replaced by the last one, and will not count either."""


class OfRun(NamedTuple):
    """What is to be done to take back what a run wrote."""

    run_id: str
    keys: Sequence[Key]
    """The events that count, or would if their answers did."""
    replaced: Sequence[JsonObject]
    """What counted before it took their place: once it is appended again, it counts again."""


def find_targets(log: Path, prefixes: Sequence[str], warn: Warn, *, skip_invalid: bool) -> list[Target]:
    """Return for each prefix the event whose id it is, or else the only one whose id begins with it; each event once.

    Raises UsageError that lists all prefixes of none, of several, and of what cannot be retracted.
    """
    standing: Counter[str] = Counter()
    types: dict[str, str] = {}
    for line in read(log, warn, skip_invalid=skip_invalid):
        standing[line.event["id"]] += 1
        types[line.event["id"]] = line.event["type"]
        if line.event["type"] == "retraction":
            standing[line.event["target"]] = 0
    found: dict[str, Target] = {}
    problems: list[str] = []
    for prefix in prefixes:
        ids = [prefix] if prefix in standing else [each for each in standing if each.startswith(prefix)]
        if problem := _problem(prefix, ids, types):
            problems.append(f"{log}: {problem}")
        else:
            events = standing[ids[0]]
            found[ids[0]] = Target(ids[0], not events, max(0, events - 1))
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


def written_by(log: Path, prefix: str, warn: Warn, *, skip_invalid: bool) -> OfRun:
    """Return what the run wrote whose id begins with a prefix and no later run has replaced, and what it replaced.

    Raises UsageError if no run has such an id, or several have.
    """
    last: dict[Key, str] = {}
    runs: dict[str, None] = {}
    for event in _events(log, warn, skip_invalid=skip_invalid):
        runs[event["run_id"]] = None
        if event["type"] == "retraction":
            for kind in WRITTEN:
                last.pop((kind, event["target"]), None)
        elif event["type"] in WRITTEN:
            last[event["type"], event["id"]] = event["run_id"]
    found = [prefix] if prefix in runs else [each for each in runs if each.startswith(prefix)]
    if len(found) != 1:
        what = f"{len(found)} runs have ids that begin" if found else "no run has an id that begins"
        raise UsageError(f"{log}: {what} with {prefix!r}; `keval sql {log} 'from runs'` lists them")
    keys = [key for key, run_id in last.items() if run_id == found[0]]
    events = _events(log, lambda _: None, skip_invalid=skip_invalid)
    return OfRun(found[0], keys, list(_replaced(events, found[0], set(keys)).values()))


def _events(log: Path, warn: Warn, *, skip_invalid: bool) -> Iterator[JsonObject]:
    return (line.event for line in read(log, warn, skip_invalid=skip_invalid))


def _replaced(events: Iterator[JsonObject], run_id: str, keys: set[Key]) -> dict[Key, JsonObject]:
    """Return the last of each event whose place a run took, with what was said of such an answer until then."""
    answers = {known for kind, known in keys if kind == "response"}
    found: dict[Key, JsonObject] = {}
    for event in events:
        key = event["type"], event["id"]
        if event["type"] == "retraction":
            gone = event["target"]
            found = {each: old for each, old in found.items() if gone not in {each[1], old.get("response_id")}}
        elif event["run_id"] == run_id:
            answers.discard(event["id"])  # what is said of it from now on is said of the run's
        elif key in keys or (event["type"] in WRITTEN and answers & {*_answers_of(event)}):
            found.pop(key, None)  # the order is that of the last ones
            found[key] = event
    return found


def _answers_of(event: JsonObject) -> tuple[str | None, ...]:
    """Return the ids of the answers that an event is about: a judge of pairs has seen two."""
    return event.get("response_id"), event.get("other_response_id")
