"""Appends what people say of verdicts to a log: all of a sheet at once, or one label after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from keval import projections
from keval.errors import InputError, Warn
from keval.events import new_run_id, written
from keval.execution.appending import NamedFile, append_all
from keval.ids import JsonObject
from keval.labels.draw import Entry, Wanted, draw, without_verdicts
from keval.labels.filled_sheet import Filled
from keval.labels.labels import READ, Known, Said, check_metrics_of, check_targets, known_labels
from keval.logs.collect import check_not_empty, collected
from keval.preparation.bare_run import bare_run_event

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from keval.projections.log_file import LogFile

CHANGED = (
    "this answer was retracted, given anew or judged anew since it was drawn, so this label was not written; "
    "start the command again"
)

Ask = Callable[[Entry, int, int], Said | None]
"""Asks a person about a verdict, given its number and how many there are; None: nothing was said."""


def take_in(log: Path, sheets: Sequence[Filled], warn: Warn, *, skip_invalid: bool) -> int:
    """Append what sheets say and the log does not hold yet; return how many labels that are.

    Where sheets contradict each other, the last one counts. Raises InputError if one is about other answers, verdicts
    or metrics than the log has: of none anything is written.
    """
    with collected([log], warn, skip_invalid=skip_invalid) as (file,), _connect(file) as connection:
        for filled in sheets:
            check_targets(connection, filled.answers, filled.judged)
            check_metrics_of(connection, filled.said)
        known = known_labels(connection, file.path)
    run_id = new_run_id()
    said = {each.identity: each for filled in sheets for each in filled.said}
    new = [each.event(run_id) for each in said.values() if known.lacks(each)]
    if new:
        append_all(log, (), bare_run_event("calibrate", run_id), new, warn)
    return len(new)


def drawn(log: Path, wanted: Wanted, warn: Warn, labeler: str | None, *, skip_invalid: bool) -> list[Entry]:
    """Return the verdicts that are drawn and have no label yet; of this person, if one is named."""
    with ExitStack() as open_:
        (file,) = open_.enter_context(collected([log], warn, skip_invalid=skip_invalid))
        check_not_empty([file])
        connection = open_.enter_context(_connect(file))
        known = known_labels(connection, file.path)
        for told in () if wanted.scores else without_verdicts(connection, wanted):
            warn(told)
        return [entry for entry in draw(connection, file.path, wanted) if not _has_label(known, entry, labeler)]


def _connect(log: LogFile) -> AbstractContextManager[DuckDBPyConnection]:
    return projections.connect([log], tools=False, asked=READ)


class DrawnFrom:
    """A log of which answers are drawn next, and whether others append to it from now on."""

    def __init__(self, log: Path, *, skip_invalid: bool) -> None:
        self._log = log
        self._skip_invalid = skip_invalid
        self._file = NamedFile.of(log)
        self._size = log.stat().st_size
        """What it has if nobody else appended."""

    def check(self, entry: Entry, warn: Warn) -> None:
        """Raise InputError if what a person has read of an entry is not what counts by now.

        Once others have appended, each entry is looked at: what they wrote may be of any of them.
        """
        self._file.check()
        if self._log.stat().st_size == self._size:
            return
        target = (entry.response_id, entry.judge_id, entry.metric)
        judged = {} if entry.judgment is None else {target: entry.judgment}
        with collected([self._log], warn, skip_invalid=self._skip_invalid) as (file,), _connect(file) as connection:
            try:
                check_targets(connection, {entry.response_id: entry.answer_sha256}, judged)
            except InputError as error:
                raise InputError(CHANGED) from error

    def wrote(self, events: Iterable[JsonObject | None]) -> None:
        """Take note of what we appended ourselves."""
        self._size += sum(len(written(each)[1]) for each in events if each is not None)


def ask_all(log: Path, entries: Iterable[Entry], ask: Ask, warn: Warn, drawn_from: DrawnFrom) -> Iterator[Said]:
    """Ask about one verdict after the other, and yield each label when it is in the log, before the next question.

    Answers that are to be scored are counted as answers, whatever the number of metrics.
    """
    run_id, together, labels = new_run_id(), list(entries), 0
    places: dict[object, int] = {}
    numbers = [places.setdefault(_counted(entry), len(places) + 1) for entry in together]
    for number, entry in zip(numbers, together, strict=True):
        said = ask(entry, number, len(places))
        if said is not None:
            drawn_from.check(entry, warn)
            announcement = bare_run_event("label", run_id) if not labels else None
            events = [each.event(run_id) for each in said.for_all(entry.also)]
            append_all(log, (), announcement, events, warn)
            drawn_from.wrote([announcement, *events])
            labels += 1
            yield said


def _counted(entry: Entry) -> object:
    return entry.response_id if entry.is_blind else (entry.response_id, entry.judge_id, entry.metric)


def _has_label(known: Known, entry: Entry, labeler: str | None) -> bool:
    return known.has((entry.response_id, entry.judge_id, entry.metric), labeler, random=entry.is_blind)
