"""Lays a report out as a page that answers five questions, in the order in which people ask them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from markupsafe import escape

from keval.counted import counted
from keval.exports import _plots
from keval.exports._all_samples import all_samples
from keval.exports._blocks import Lines, Section, Table
from keval.exports._comparison import changed_samples, headlines
from keval.exports._costs import costs
from keval.exports._groups import groups
from keval.exports._house import house
from keval.exports._layout import claims, conditions, failures, first_warnings, other_warnings, title
from keval.exports._scores import scores
from keval.exports._source import retractions, source
from keval.exports._strips import Panel
from keval.printable import printable, printable_lines
from keval.reports.details import Case, ShownAnswer
from keval.reports.model import Header, JudgeInfo, Report

_MARKUP_OF_A_CASE, _MARKUP_OF_A_TEXT = 1_000, 200
"""Bytes that the page has around a case and around each of its texts, at most."""


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


def page(report: Report) -> Page:
    """Return a report as its five questions, without answers to read."""
    said = headlines(report)
    return Page(
        title(report.header),
        report.banner,
        first_warnings(report),
        None if said is None else Section("", said.blocks),
        (_help(report), _trust(report), _worse(report), _cost(report), _again(report)),
    )


def with_cases(drawn: Page, report: Report, room: int) -> Page:
    """Return the page of a report with its cases, as far as there is `room` for them, in bytes."""
    helped, trusted, worse, *others = drawn.questions
    read = report.details.cases if report.details else ()
    kept = tuple(_that_fit(read, room))
    worse = replace(worse, cases=kept, cases_left_out=len(read) - len(kept))
    return replace(drawn, questions=(helped, trusted, worse, *others))


_NUMBERS = re.compile(r": (?:[^:;]* )?[+\u2212]\d.*", re.DOTALL)
"""What follows a conclusion from its first difference on, which has a sign."""


def tab(report: Report) -> str:
    """Return what the tab of a browser says: the conclusion without its numbers, if there is one, and of what."""
    said = _NUMBERS.sub("", report.headlines[0].text) if len(report.headlines) == 1 else ""
    if len(report.headlines) > 1:
        said = f"{counted(len(report.headlines), 'comparison')}, {report.headlines[0].baseline} is the baseline"
    is_incomplete = any(warning.code == "incomplete" for warning in report.warnings_first)
    first = ("MOCK" if report.banner else "", "INCOMPLETE" if is_incomplete else "")
    return " · ".join(part for part in (*first, said, report.header.name or "", "keval") if part)


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
    details = list(scores(report.metrics))[1:]
    found = [
        _judges(report.header.judges),
        other_warnings(report),
        failures(report.failures),
        *details,
    ]
    panels = tuple(_plots.completeness(report.metrics))
    plots = (Plots("What became of the answers", panels, report.mock),) if panels else ()
    otherwise = "There is nothing else to warn of." if report.warnings_first else "There is nothing to warn of."
    return Question("Can I trust it?", otherwise, plots, _present(found))


def _judges(judges: Sequence[JudgeInfo]) -> Section | None:
    """Show which models judged, and whether people said that they judge right."""
    rows = tuple((judge.name, judge.model, judge.calibration or "–") for judge in judges if judge.model)
    return Section("Judges", (Table(("judge", "model", "compared with people"), rows),)) if rows else None


def _worse(report: Report) -> Question:
    changed = changed_samples(report)
    shown = None if changed is None else Section("", changed.blocks)
    return Question(
        "Where did it get worse?",
        "No sample changed, or nothing is compared.",
        sections=_present([shown]),
        cases_left_out=len(report.details.cases) if report.details else 0,
        below=_present([claims(report.claims)]),
        folded=_present([all_samples(report)]),
    )


def _that_fit(cases: Sequence[Case], room: int) -> Iterator[Case]:
    """Yield the cases for which there is room, from the first on; a large one leaves its room to those after it."""
    for case in cases:
        size = _MARKUP_OF_A_CASE + _size(case.question) + sum(map(_size_of_answer, case.answers))
        if size <= room:
            room -= size
            yield case


def _size_of_answer(answer: ShownAnswer) -> int:
    names = (("", answer.condition), ("", answer.about))
    return _size(names) + _size(answer.texts) + _size(answer.steps)


def _size(texts: Iterable[tuple[str, str]]) -> int:
    """Return how many bytes texts take on the page, where `&` is five."""
    return sum(_MARKUP_OF_A_TEXT + len(escape(printable_lines(text)).encode()) for _, text in texts)


def _cost(report: Report) -> Question:
    said = tuple((line,) for line in costs(report))
    found = [Section("", (Lines(said),)) if said else None, conditions(report.conditions)]
    return Question("What did it cost?", "The input does not say it.", sections=_present(found))


def _again(report: Report) -> Question:
    notes = Section("Notes", (Lines(tuple((note,) for note in report.notes)),)) if report.notes else None
    commands = Section("Commands", (Lines(tuple((line,) for line in _commands(report.header))),))
    ran = report.details.versions if report.details else ()
    versions = Section("Versions", (Table((), ran),)) if ran else None
    found = [source(report.header), versions, commands, retractions(report.retractions), notes]
    config = report.details.config if report.details else None
    return Question("How do I reproduce it?", "", sections=_present(found), config=config)


def _commands(header: Header) -> Iterator[str]:
    """Yield commands that can be typed as they stand, but for what is in capitals."""
    logs = " ".join(quote(printable(file)) for file in header.files if file != "stdin") or "LOG"
    one = logs if len(header.files) == 1 else "LOG"
    yield f"keval {'compare' if header.logs else 'report'} {logs} -o PAGE.html: a page like this one"
    yield f"keval show {one} --sample ID: all of one sample, long texts with --full"
    yield f'keval sql {one} "FROM scores": the numbers behind it'
    yield "keval run CONFIG: asks what is not in the log yet"


def _present(sections: list[Section | None]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section is not None)
