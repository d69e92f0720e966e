"""The kinds of plots, and what all of them have: the heading, what is to be read first, and the key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from keval.errors import InputError
from keval.exports._page import tab
from keval.plots import cost, forest, heatmap, paired, strips
from keval.plots.picture import LINE, MARGIN, MUTED, SIZE, WORSE, Picture, settings, shortened, wrapped
from keval.readable import cut
from keval.reports.model import Report
from keval.reports.sentences import ONE_CONDITION


@dataclass(frozen=True, slots=True)
class PlotKind:
    """One kind of plot."""

    about: str
    """What it shows, as the help says it."""
    title: str
    draw: Callable[[Report, Picture], list[str]]
    """Draws a report below what a picture has, and returns the key to the marks; none if there was nothing to draw."""
    otherwise: str
    """Why there may be nothing."""
    of_samples: bool = False
    """Whether it shows single samples."""
    width: Callable[[Report], float] = lambda _: strips.WIDTH
    """How wide the picture has to be, in inches."""


NOTHING_COMPARED = "nothing is compared, or nothing was scored"

KINDS = {
    "forest": PlotKind("differences with their intervals", forest.TITLE, forest.draw, NOTHING_COMPARED),
    "paired": PlotKind("the difference of each sample", paired.TITLE, paired.draw, NOTHING_COMPARED, of_samples=True),
    "cost": PlotKind("scores against cost and time", "Score against cost and time", cost.draw,
                     "nothing was scored, or neither cost nor time of an answer is known"),
    "heatmap": PlotKind("each sample under each condition", heatmap.TITLE, heatmap.draw, "no sample has a score",
                        of_samples=True, width=heatmap.width),
}  # fmt: skip
"""By the names that users type."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture, as the bytes of its file."""

    content: bytes
    lacking: frozenset[str]
    """Characters that its font has not."""


def drawn(report: Report, name: str, ending: str) -> Drawn:
    """Return a plot of a report. Raises InputError where there is nothing to draw."""
    with settings():
        picture = on_paper(report, name)
        content = picture.render(ending, f"{KINDS[name].title} · {tab(report)}")
    return Drawn(content, frozenset(picture.lacking))


def on_paper(report: Report, name: str) -> Picture:
    """Return a plot with all that stands above and below it. Raises InputError where there is nothing to draw."""
    kind = KINDS[name]
    picture = Picture(max(strips.WIDTH, kind.width(report)))
    _head(picture, report, kind)
    key = kind.draw(report, picture)
    if not key:
        is_alone = len(report.conditions) == 1 and kind.otherwise == NOTHING_COMPARED
        of = f"{report.header.name}: " if report.header.name else ""
        why = ONE_CONDITION.removesuffix(".") if is_alone and report.metrics else kind.otherwise
        raise InputError(f"{of}there is nothing to draw as {name}: {why}")
    _lines(picture, key, color=MUTED, size=SIZE - 1)
    return picture


def _head(picture: Picture, report: Report, kind: PlotKind) -> None:
    name = f": {report.header.name}" if report.header.name else ""
    version = f", version {report.header.version}" if report.header.name and report.header.version else ""
    if report.banner:
        _lines(picture, [report.banner], color=WORSE, bold=True)
    _lines(picture, [f"{kind.title}{name}{version}"], size=SIZE + 3, bold=True)
    _lines(picture, list(_read_first(report)), color=WORSE)
    if report.read_with_care:
        _lines(picture, [report.read_with_care], color=MUTED)
    picture.bottom += 0.12


def _read_first(report: Report) -> Iterator[str]:
    for warning in report.warnings_first:
        yield cut(warning.text)


def _lines(
    picture: Picture, texts: list[str], *, color: str = "#1a1a1a", size: float = SIZE, bold: bool = False
) -> None:
    """Write texts below each other, across the whole picture."""
    for text in texts:
        for line in shortened(wrapped(text, picture.width - 2 * MARGIN, size=size, bold=bold)):
            picture.bottom += LINE * size / SIZE
            picture.text(MARGIN, picture.bottom, line, color=color, size=size, bold=bold)
        picture.bottom += 0.03
