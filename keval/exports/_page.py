"""Lays a report out as a page that answers five questions, in the order in which people ask them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keval.exports import _plots
from keval.exports._all_samples import all_samples
from keval.exports._blocks import Lines, Section, Table
from keval.exports._comparison import changed_samples, headlines
from keval.exports._costs import costs
from keval.exports._groups import groups
from keval.exports._house import house
from keval.exports._layout import claims, conditions, failures, title, warning_lines
from keval.exports._scores import scores
from keval.exports._source import retractions, source
from keval.exports._strips import Panel
from keval.reports.details import Case
from keval.reports.model import Report
from keval.reports.sentences import CARE


@dataclass(frozen=True, slots=True)
class Plots:
    """Panels of one kind."""

    title: str
    panels: tuple[Panel, ...]
    mock: bool
    folded: bool = False
    """Whether they are open at a click only."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with what answers it."""

    title: str
    otherwise: str
    """What stands there if nothing answers it."""
    plots: tuple[Plots, ...] = ()
    sections: tuple[Section, ...] = ()
    cases: tuple[Case, ...] = ()
    cases_left_out: int = 0
    """Samples whose answers would make the page too large."""
    below: tuple[Section, ...] = ()
    """Sections below the cases."""
    folded: tuple[Section, ...] = ()
    """Sections that are open at a click only."""
    config: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing answers it."""
        return not (self.plots or self.sections or self.cases or self.below or self.folded)


@dataclass(frozen=True, slots=True)
class Page:
    """One report."""

    heading: str
    banner: str | None
    read_first: Section | None
    said: Section | None
    questions: tuple[Question, ...]


def page(report: Report, room: int) -> Page:
    """Return a report as its five questions; answers are in it as far as there is `room` for them, in bytes."""
    said = headlines(report)
    return Page(
        title(report.header),
        report.banner,
        warning_lines("Read this first", report.warnings_first),
        None if said is None else Section("", said.blocks),
        (_help(report), _trust(report), _worse(report, room), _cost(report), _again(report)),
    )


def tab(report: Report) -> str:
    """Return what the tab of a browser says: the conclusion, and of what."""
    said = report.headlines[0].text if report.headlines else ""
    return " · ".join(
        part for part in ("MOCK" if report.banner else "", said, report.header.name or "", "keval") if part
    )


def _help(report: Report) -> Question:
    drawn = (
        ("Differences", _plots.differences(report.metrics), False),
        ("Means of the conditions, and of each sample", _plots.means(report.metrics, report.details), True),
        ("Difference of each sample", _plots.samples_compared(report.metrics, report.details), True),
        ("Scores given to answers", _plots.scores_given(report.metrics, report.details), True),
    )
    overview = next(scores(report.metrics), None)
    found = [overview, *map(groups, report.groups), house(report.house_scores) if report.house_scores else None]
    plots = tuple(Plots(kind, tuple(panels), report.mock, folded) for kind, panels, folded in drawn if panels)
    return Question("Did it help?", "Nothing was scored.", plots, _present(found))


def _trust(report: Report) -> Question:
    told = CARE if report.read_with_care and report.metrics else ()
    details = list(scores(report.metrics))[1:]
    found = [
        warning_lines("Warnings", [warning for warning in report.warnings if warning.code not in told]),
        failures(report.failures),
        *details,
    ]
    panels = tuple(_plots.completeness(report.metrics))
    plots = (Plots("What became of the answers", panels, report.mock),) if panels else ()
    return Question("Can I trust it?", "There is nothing to warn of.", plots, _present(found))


def _worse(report: Report, room: int) -> Question:
    changed = changed_samples(report)
    shown = None if changed is None else Section("", changed.blocks)
    read = report.details.cases if report.details else ()
    kept = tuple(_that_fit(read, room))
    return Question(
        "Where did it get worse?",
        "No sample changed, or nothing is compared.",
        sections=_present([shown]),
        cases=kept,
        cases_left_out=len(read) - len(kept),
        below=_present([claims(report.claims)]),
        folded=_present([all_samples(report)]),
    )


def _that_fit(cases: Sequence[Case], room: int) -> Iterator[Case]:
    """Yield the cases for which there is room, from the first on; a large one leaves its room to those after it."""
    for case in cases:
        size = _size(case.question) + sum(_size(answer.texts) + _size(answer.steps) for answer in case.answers)
        if size <= room:
            room -= size
            yield case


def _size(texts: Iterable[tuple[str, str]]) -> int:
    return sum(len(text.encode("utf-8", "surrogatepass")) for _, text in texts)


def _cost(report: Report) -> Question:
    said = tuple((line,) for line in costs(report))
    found = [Section("", (Lines(said),)) if said else None, conditions(report.conditions)]
    return Question("What did it cost?", "The input does not say it.", sections=_present(found))


def _again(report: Report) -> Question:
    notes = Section("Notes", (Lines(tuple((note,) for note in report.notes)),)) if report.notes else None
    commands = Section("Commands", (Lines(tuple((line,) for line in _commands(report))),))
    ran = report.details.versions if report.details else ()
    versions = Section("Versions", (Table((), ran),)) if ran else None
    found = [source(report.header), versions, commands, retractions(report.retractions), notes]
    config = report.details.config if report.details else None
    return Question("How do I reproduce it?", "", sections=_present(found), config=config)


def _commands(report: Report) -> Iterator[str]:
    logs = " ".join(report.header.files) or "LOG"
    yield f"keval report {logs} -f html: this page"
    yield f"keval show {logs} --sample ID: all of one sample, long texts with --full"
    yield f'keval sql {logs} "FROM scores": the numbers behind it'
    yield "keval run CONFIG: asks what is not in the log yet"


def _present(sections: list[Section | None]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section is not None)
