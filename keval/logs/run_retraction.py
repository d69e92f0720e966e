"""Finds what has to be appended to a log so that it counts as if some runs had written nothing.

A retraction is of an id, with all events before it that have the id. So what a run took the place of is appended again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from keval.errors import UsageError, Warn
from keval.ids import JsonObject, answer_sha256
from keval.logs.stream import read

WRITTEN = ("response", "failure", "judgment", "label")
"""Types of events that are retracted with the run that wrote them."""

Key = tuple[str, str]
"""The type of an event, and its id."""


class OfRuns(NamedTuple):
    """What is to be done to take back what runs wrote."""

    run_ids: Sequence[str]
    retracted: Sequence[Key]
    """Their events that stand."""
    restored: Sequence[JsonObject]
    """What would count without them, in the order of the log: appended again, it does; with how samples changed."""
    replaced: int
    """How many of their events later runs have replaced already."""
    changed_samples: int = 0
    """How many samples stay as they changed them: what the dataset says is not retracted."""


class _Version(NamedTuple):
    event: JsonObject
    place: int
    """Its place in the log."""
    answers: tuple[str | None, ...]
    """What a judgment or a label is about: the hash of the answer, of a judge of pairs also of the other one."""
    since: int
    """Its place before it was appended again."""
    is_restored: bool = False
    """Whether a retraction appended it again."""

    @property
    def is_mock(self) -> bool:
        """Whether a stand-in made it."""
        return bool(self.event.get("mock"))

    @property
    def maker(self) -> tuple[str, str]:
        """What tells it from other versions: when it is appended again, it is the same."""
        return self.event["run_id"], self.event["time"]


@dataclass(slots=True)
class _History:
    """The versions of an event in the order of the log, but for those that were taken back."""

    standing: list[_Version] = field(default_factory=list)
    taken_back: list[_Version] = field(default_factory=list)
    """Those of the last retraction."""
    taken_at: float = inf
    """Its place in the log."""

    def add(self, version: _Version) -> None:
        makers = [each.maker for each in self.taken_back]
        if version.maker in makers:
            # What is appended again was not meant by the retraction, nor was what it had replaced itself: of the mock,
            # nothing real.
            replaced = self.taken_back[: makers.index(version.maker)]
            version = version._replace(since=self.taken_back[len(replaced)].since, is_restored=True)
            self.standing = [each for each in replaced if each.is_mock or not version.is_mock]
            self.taken_back, self.taken_at = [], inf
        elif same := [each for each in self.standing if each.maker == version.maker]:
            version = version._replace(since=same[0].since)  # a label that followed its answer
        self.standing.append(version)

    def retract(self, place: int) -> None:
        if self.standing:
            self.standing, self.taken_back, self.taken_at = [], self.standing, place

    def of(self, runs: Collection[str]) -> list[_Version]:
        """Return the versions, also those whose retraction was one of these runs that was cut off."""
        is_cut_off = self.taken_back and self.taken_back[-1].event["run_id"] in runs
        return self.standing or (self.taken_back if is_cut_off else [])


def written_by(log: Path, prefixes: Sequence[str], warn: Warn, *, skip_invalid: bool) -> OfRuns:
    """Return how to take back what the runs wrote whose ids begin with these prefixes.

    Raises UsageError if no run has such an id, or several have.
    """
    named = _Written()
    changed: dict[str, str] = {}
    for event in _events(log, warn, skip_invalid=skip_invalid):
        if event["type"] == "sample_change":
            changed[event["sample"]["id"]] = event["run_id"]
        if event["run_id"].startswith(tuple(prefixes)):
            named.add(event)
    runs = list(dict.fromkeys(_run(log, prefix, named.keys) for prefix in prefixes))
    keys = {key for run_id in runs for key in named.keys[run_id]}
    answers = {answer for run_id in runs for answer in named.answers[run_id]}
    changes: list[_Version] = []
    events = _events(log, lambda _: None, skip_invalid=skip_invalid)
    histories = _histories(_noting_changes(events, changes), keys, answers)
    return _without(runs, keys, histories, changes)._replace(
        changed_samples=sum(map(runs.__contains__, changed.values()))
    )


@dataclass(slots=True)
class _Written:
    """What runs wrote, by their ids."""

    keys: dict[str, set[Key]] = field(default_factory=dict)
    answers: dict[str, set[str]] = field(default_factory=dict)
    """The ids of answers that these events are, or are about."""

    def add(self, event: JsonObject) -> None:
        keys, answers = self.keys.setdefault(event["run_id"], set()), self.answers.setdefault(event["run_id"], set())
        if event["type"] in WRITTEN:
            keys.add((event["type"], event["id"]))
            answers.update(_answers_of(event))


def _run(log: Path, prefix: str, runs: Collection[str]) -> str:
    found = [prefix] if prefix in runs else [each for each in runs if each.startswith(prefix)]
    if len(found) != 1:
        what = f"{len(found)} runs have ids that begin" if found else "no run has an id that begins"
        raise UsageError(f"{log}: {what} with {prefix!r}; `keval sql {quote(str(log))} 'from runs'` lists them")
    return found[0]


def _events(log: Path, warn: Warn, *, skip_invalid: bool) -> Iterator[JsonObject]:
    return (line.event for line in read(log, warn, skip_invalid=skip_invalid))


def _answers_of(event: JsonObject) -> tuple[str, ...]:
    """Return the ids of the answers that an event is, or is about: a judge of pairs has seen two."""
    if event["type"] == "response":
        return (event["id"],)
    return tuple(known for name in ("response_id", "other_response_id") if (known := event.get(name)) is not None)


def _histories(events: Iterator[JsonObject], keys: Collection[Key], answers: AbstractSet[str]) -> dict[Key, _History]:
    """Return the histories of these events, and of all that are about these answers."""
    found: dict[Key, _History] = {}
    for place, event in enumerate(events):
        key = event["type"], event["id"]
        if event["type"] == "retraction":
            for kind in WRITTEN:
                if (kind, event["target"]) in found:
                    found[kind, event["target"]].retract(place)
        elif key in keys or (_goes_with_answers(event) and not answers.isdisjoint(_answers_of(event))):
            found.setdefault(key, _History()).add(_Version(event, place, _texts(event, found), place))
    return found


def _noting_changes(events: Iterator[JsonObject], changes: list[_Version]) -> Iterator[JsonObject]:
    """Yield events, and put those aside that say that a sample has another record from there on."""
    for place, event in enumerate(events):
        if event["type"] == "sample_change":
            changes.append(_Version(event, place, (), place))
        yield event


def _goes_with_answers(event: JsonObject) -> bool:
    """Return whether an event goes with the answer that it is about; what failed a judge says nothing of an answer."""
    return event["type"] in WRITTEN and (event["type"] != "failure" or event["stage"] == "generate")


def _texts(event: JsonObject, histories: Mapping[Key, _History]) -> tuple[str | None, ...]:
    """Return the hashes of the answers that an event is about: it says them, or they are those of then."""
    if event["type"] not in {"judgment", "label"}:
        return ()
    said = event.get("answer_sha256"), event.get("other_answer_sha256")
    then = (_text(_last(histories[key].standing)) if (key := ("response", each)) in histories else None
            for each in _answers_of(event))  # fmt: skip
    return tuple(known or text for known, text in zip(said, then, strict=False))


def _text(answer: _Version | None) -> str | None:
    return None if answer is None else answer_sha256(answer.event["text"])


def _last(versions: Sequence[_Version], runs: Collection[str] = ()) -> _Version | None:
    """Return the version that counts if these runs had written none: what the mock made replaces nothing real."""
    left = [each for each in versions if each.event["run_id"] not in runs]
    real = [each for each in left if not each.is_mock]
    return next(reversed(real or left), None)


def _without(
    runs: Sequence[str], keys: Collection[Key], histories: Mapping[Key, _History], changes: Sequence[_Version]
) -> OfRuns:
    """Return what takes back these runs, of the histories of what they wrote and of what is about their answers."""
    own = {key: each for key, each in histories.items() if key in keys}
    retracted = {key for key, each in own.items() if _is_of(_last(each.standing), runs)}
    taken = retracted | {key for key, each in own.items() if not each.standing and each.of(runs)}
    texts = {
        known: _text(_last(each.of(runs), runs)) for (kind, known), each in histories.items() if kind == "response"
    }
    # Of a retraction that was cut off, what is told with an answer may have been appended again already.
    gone = {known: inf if (kind, known) in retracted else histories[kind, known].taken_at for kind, known in taken}
    left = {
        key: found for key, history in histories.items()
        if (found := _last([each for each in history.of(runs) if _is_about(each, texts)], runs)) is not None
    }  # fmt: skip
    restored = [found for key, found in left.items() if key in taken or _went_with_answer(found, gone, texts)]
    places = {each.place for each in restored}  # to compare events would take the square of their number
    restored += [
        each
        for each in left.values()
        if each.place not in places
        and (_has_to_follow_answer(each, left) or _has_to_follow_verdict(each, left, places))
    ]
    restored += _changes_since(left.values(), places, changes)
    replaced = sum(any(_is_of(each, runs) for each in own[key].standing) for key in own.keys() - retracted)
    in_order = sorted(restored, key=lambda version: version.place)  # an answer comes before what is about it
    return OfRuns(
        runs, [key for key in histories if key in retracted], [version.event for version in in_order], replaced
    )


def _changes_since(left: Iterable[_Version], restored: Collection[int], changes: Sequence[_Version]) -> list[_Version]:
    """Return the changes of samples that came after answers which are appended again: these have the records of before.

    What the dataset says is not taken back, and the newest record is the one that the log names last. Behind answers
    that a retraction has appended again already, those are missing before which it was cut off.
    """
    spans: dict[str, tuple[int, float]] = {}
    for version in left:
        place = inf if version.place in restored else version.place
        if version.event["type"] == "response" and (version.place in restored or version.is_restored):
            question = version.event["question_id"]
            since, until = spans.get(question, (version.since, place))
            spans[question] = min(since, version.since), max(until, place)
    of_questions: defaultdict[str, list[_Version]] = defaultdict(list)
    for change in changes:
        of_questions[change.event["question_id"]].append(change)
    return [change for question, span in spans.items() for change in _not_followed(of_questions[question], *span)]


def _not_followed(changes: Sequence[_Version], since: int, until: float) -> list[_Version]:
    """Return the changes of a sample between two places of the log that are not repeated behind the second one.

    None, where the sample was changed otherwise since.
    """
    last = {each.maker: each for each in changes if since < each.place < until}  # others are copies of them
    before = [each for each in changes if last.get(each.maker) is each]
    after = {each.maker for each in changes if each.place > until}
    if not after <= {each.maker for each in before}:
        return []
    return [each for each in before if each.maker not in after]


def _went_with_answer(version: _Version, gone: Mapping[str, float], texts: Mapping[str, str | None]) -> bool:
    """Return whether an answer that a version is about was retracted after it.

    A judgment or a label needs an earlier answer that counts again; that a task failed is true without one.
    """
    is_failure = version.event["type"] == "failure"
    return any(
        version.place < gone.get(each, -inf) and (is_failure or texts[each] is not None)
        for each in _answers_of(version.event)
    )


def _has_to_follow_answer(version: _Version, left: Mapping[Key, _Version]) -> bool:
    """Return whether a label counts by its place, and its answer was appended again behind it: that was cut off."""
    said = version.event
    answer = left.get(("response", said["response_id"])) if said["type"] == "label" else None
    if answer is None or said.get("answer_sha256") is not None:
        return False
    return answer.since < version.since and version.place < answer.place


def _has_to_follow_verdict(version: _Version, left: Mapping[Key, _Version], restored: Collection[int]) -> bool:
    """Return whether a label was given after all verdicts that it is about, one of which is, or was, appended again."""
    said = version.event
    if said["type"] != "label":
        return False
    verdicts = [
        each for (kind, _), each in left.items()
        if kind == "judgment" and each.event["response_id"] == said["response_id"]
        and said.get("judge_id") in {None, each.event["judge_id"]}
    ]  # fmt: skip
    again = any(each.place in restored or each.place > version.place for each in verdicts)
    return again and all(each.since < version.since for each in verdicts)


def _is_of(version: _Version | None, runs: Collection[str]) -> bool:
    return version is not None and version.event["run_id"] in runs


def _is_about(version: _Version, texts: Mapping[str, str | None]) -> bool:
    """Return whether what a version is about is what counts without the runs, as far as both are known."""
    now = (texts.get(each) for each in _answers_of(version.event))
    return all(None in pair or pair[0] == pair[1] for pair in zip(version.answers, now, strict=False))
