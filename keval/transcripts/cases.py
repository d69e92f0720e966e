"""Gathers for a report the answers to the samples that changed most, so that they can be read side by side."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from keval.projections.log_file import LogFile
from keval.reports.changed_scores import ChangedScores
from keval.reports.details import Case, ShownAnswer, details
from keval.reports.model import Report
from keval.transcripts.drawing import shortened, unfolded
from keval.transcripts.sections import Section, about, question, result, steps
from keval.transcripts.selection import Selection
from keval.transcripts.transcript import Transcript, transcripts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def with_answers(report: Report, connection: DuckDBPyConnection, logs: Sequence[LogFile]) -> Report:
    """Return a report with the numbers of single samples, and with the answers to those that changed most."""
    read = tuple(cases(connection, logs, report.changed_scores))
    return replace(report, details=replace(details(connection, report.metrics), cases=read))


def cases(connection: DuckDBPyConnection, logs: Sequence[LogFile], changed: Sequence[ChangedScores]) -> Iterator[Case]:
    """Yield each sample that changed, in the order of the report, with all answers under both conditions."""
    for found in changed:
        ids = [each.sample_id for each in (*found.lost, *found.gained)]
        names = map(glob.escape, (found.baseline, found.condition))
        chosen = Selection(samples=tuple(map(glob.escape, ids)), conditions=tuple(names))
        read: dict[str, list[Transcript]] = {sample_id: [] for sample_id in ids}
        for transcript in transcripts(connection, logs, chosen) if ids else ():
            read[transcript.sample_id].append(transcript)
        yield from (_case(sample_id, found, those) for sample_id, those in read.items() if those)


def _case(sample_id: str, found: ChangedScores, read: Sequence[Transcript]) -> Case:
    asked = next((each for each in read if each.sample is not None), read[0])
    return Case(sample_id, found.condition, found.baseline, _texts(question(asked)), tuple(map(_answer, read)))


def _answer(transcript: Transcript) -> ShownAnswer:
    return ShownAnswer(
        transcript.condition,
        transcript.outcome["repetition"],
        about(transcript),
        # Why an answer got its scores is what people doubt first.
        _texts(sorted(result(transcript), key=lambda section: section.title != "Scores")),
        _texts(steps(transcript)),
    )


def _texts(sections: Iterable[Section]) -> tuple[tuple[str, str], ...]:
    return tuple((section.title, shortened(unfolded(section.text))) for section in sections)
