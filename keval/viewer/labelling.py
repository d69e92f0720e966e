"""Takes a person's own scores of answers into a log, each before the next one is asked for."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable
from pathlib import Path

from keval.errors import UsageError, Warn
from keval.events import new_run_id
from keval.execution.appending import append_in_thread, check_appendable
from keval.execution.labelling import DrawnFrom, drawn
from keval.labels.draw import Entry, Wanted
from keval.labels.labels import Said
from keval.preparation.bare_run import bare_run_event


class Labelling:
    """What one person is asked about, and has said by now."""

    def __init__(self, log: Path, labeler: str, entries: Iterable[Entry], warn: Warn, drawn_from: DrawnFrom) -> None:
        self.log = log
        self.labeler = labeler
        self.entries = tuple(entries)
        self.said: dict[int, float] = {}
        """The score of each entry that has one, by its place."""
        self.token = secrets.token_urlsafe(32)
        """Stands in forms that are ours: another site cannot read it, and so cannot send one."""
        self._warn = warn
        self._run_id = new_run_id()
        self._appending = threading.Lock()
        self._drawn_from = drawn_from

    @classmethod
    def of(cls, log: Path, labeler: str, number: int, warn: Warn, *, skip_invalid: bool) -> Labelling:
        """Draw answers at random that this person has not scored. Raises UsageError and EnvironmentLacksError."""
        labeler = labeler.strip()
        if not labeler:
            raise UsageError("--label is empty; it is the name of who says it")
        check_appendable(log)
        drawn_from = DrawnFrom(log, skip_invalid=skip_invalid)
        entries = drawn(log, Wanted(number, scores=True), warn, labeler, skip_invalid=skip_invalid)
        return cls(log, labeler, entries, warn, drawn_from)

    def after(self, place: int) -> int | None:
        """Return the first entry from a place on that has no score yet, then those before it; None if all have one."""
        order = [*range(place, len(self.entries)), *range(min(place, len(self.entries)))]
        return next((each for each in order if each not in self.said), None)

    def take(self, token: str, place: int, score: float, note: str | None) -> None:
        """Append a score; the next one of the same answer takes its place. Raises UsageError for what is none.

        And InputError for what is of an answer that does not count any more.
        """
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise UsageError("this form is of an earlier start of keval view; open the page anew")
        if not 0 <= place < len(self.entries):
            raise UsageError(f"{place} is none of the {len(self.entries)} answers")
        entry = self.entries[place]
        if not entry.min <= score <= entry.max:
            raise UsageError(f"{score:g} is no number from {entry.min:g} to {entry.max:g}")
        target = (entry.response_id, entry.judge_id, entry.metric)
        said = Said(target, self.labeler, score=score, note=note, draw=entry.draw, answer_sha256=entry.answer_sha256)
        with self._appending:
            self._drawn_from.check(entry, self._warn)
            announcement = None if self.said else bare_run_event("label", self._run_id)
            labels = [each.event(self._run_id) for each in said.for_all(entry.also)]
            append_in_thread(self.log, announcement, labels, self._warn)
            self._drawn_from.wrote([announcement, *labels])
            self.said[place] = score
