"""A plot and a page of one report draw the same marks at the same places."""

from __future__ import annotations

import dataclasses
import re

import pytest

from keval.exports.html import Html
from keval.plots.kinds import drawn
from keval.plots.strips import STRIP
from keval.reports.model import Report
from tests.plotting import large_report, places, texts
from tests.reports import difference, small_details, small_report

DETAILED = dataclasses.replace(small_report(), details=small_details())


def changed(**changes: object) -> Report:
    """Return the small report with another difference."""
    (table,) = DETAILED.metrics
    differences = (difference("with_docs", **changes),)
    return dataclasses.replace(DETAILED, metrics=(dataclasses.replace(table, differences=differences),))


REPORTS = {
    "small": DETAILED,
    "lower": changed(difference=-0.5, ci_lower=-0.75, ci_upper=-0.25, conclusion="lower"),
    "no interval": changed(ci_lower=None, ci_upper=None, conclusion="cannot tell"),
    "margin": changed(other_statistics={"margin": 0.5}),
    "five conditions": large_report(5, 50, 2),
    "many samples": large_report(3, 1000),
}

each_report = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)


def rows(report: Report, title: str) -> list[str]:
    """Return the rows with marks of the page's plots of a kind."""
    page = Html().render(report).decode()
    tables = re.findall(rf"<caption>{title}: .*?</table>", page, re.DOTALL)
    return [row for table in tables for row in re.findall(r'<tr role="row">.*?</tr>', table, re.DOTALL)]


def percents(row: str, pattern: str) -> list[float]:
    """Return the numbers that a pattern finds in a row of the page."""
    found = [each if isinstance(each, tuple) else (each,) for each in re.findall(pattern, row)]
    return [float(number) for each in found for number in each]


def plotted(report: Report, kind: str) -> list[dict[str, list[float]]]:
    """Return where the marks of each row of a plot are, by their names, in percent of the strip's width."""
    found: dict[tuple[int, int], dict[str, list[float]]] = {}
    for name, points in places(drawn(report, kind, "svg").content).items():
        what, panel, row, *side = name.split("-")
        across = [100 * (x - STRIP[0]) / STRIP[1] for x, _ in points]
        found.setdefault((int(panel), int(row)), {})["-".join([what, *side])] = across
    return [found[key] for key in sorted(found)]


@each_report
def test_a_forest_is_what_the_page_draws(report: Report) -> None:
    """Estimate, interval and margin of each row are where the page has them."""
    on_page, in_plot = rows(report, "Differences"), plotted(report, "forest")
    assert len(on_page) == len(in_plot) > 0
    for row, strip in zip(on_page, in_plot, strict=True):
        assert strip["mark"] == pytest.approx(percents(row, r'class="at" x="([\d.]+)%"'), abs=0.01)
        line = percents(row, r'class="interval[^"]*" x1="([\d.]+)%" x2="([\d.]+)%"')
        assert strip.get("interval", []) == pytest.approx(line, abs=0.01)
        band = percents(row, r'class="band" x="([\d.]+)%" width="([\d.]+)%"')
        corners = strip.get("band", [])
        assert [min(corners), max(corners) - min(corners)] if corners else pytest.approx(band, abs=0.01) == []


@each_report
def test_samples_stand_where_the_page_has_them(report: Report) -> None:
    """Each dot and column, by the side that it is of."""
    on_page, in_plot = rows(report, "Difference of each sample"), plotted(report, "paired")
    assert len(on_page) == len(in_plot) > 0
    for row, strip in zip(on_page, in_plot, strict=True):
        for side in ("worse", "equal", "better"):
            dots = percents(row, rf'class="dot {side}" cx="([\d.]+)%"')
            assert sorted(strip.get(f"dots-{side}", [])) == pytest.approx(sorted(dots), abs=0.01)
            columns = percents(row, rf'class="column {side} scored" x="(-?[\d.]+)%"')
            lefts = sorted({round(x, 2) for x in strip.get(f"columns-{side}", [])})[::2]
            assert lefts == pytest.approx(sorted(columns), abs=0.02)


@each_report
def test_a_plot_says_the_numbers_that_the_page_says(report: Report) -> None:
    """As text, which can be searched and read aloud."""
    for title, kind in (("Differences", "forest"), ("Difference of each sample", "paired")):
        said = " ".join(texts(drawn(report, kind, "svg").content))
        for row in rows(report, title):
            words, conclusion = re.findall(r'class="words"><bdi>(.*?)</bdi>(?: <strong>(.*?)</strong>)?', row)[0]
            assert words in said
            assert conclusion in said


def test_a_lone_estimate_is_hollow_and_says_why() -> None:
    """It never looks like certainty."""
    made = drawn(REPORTS["no interval"], "forest", "svg").content
    assert "interval-1-1" not in places(made)
    assert "+0.38 no interval: the input does not say why" in " ".join(texts(made))
    assert "Diamond without a line: there is no interval." in texts(made)


def test_differences_of_nothing_are_rows_of_words() -> None:
    """A condition of which nothing was scored has a row, and no mark."""
    made = drawn(large_report(2, 0), "forest", "svg").content
    assert places(made) == {}
    assert "– no interval: fewer than 5 samples" in " ".join(texts(made))
