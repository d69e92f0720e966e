"""Properties of the grid of samples and conditions."""

from __future__ import annotations

import dataclasses

import pytest

from keval.exports._all_samples import sample_grid
from keval.plots.heatmap import fill, text_of
from keval.plots.kinds import drawn
from keval.reports.details import MOST_SAMPLES
from keval.reports.model import Report
from tests.plotting import large_report, texts
from tests.reports import sample_values, small_details, small_report


def report(**changes: object) -> Report:
    """Return the small report, with the samples of its baseline changed."""
    details = small_details()
    first = dataclasses.replace(details.conditions[0], **changes)  # type: ignore[arg-type]  # each test names its fields
    return dataclasses.replace(
        small_report(), details=dataclasses.replace(details, conditions=(first, details.conditions[1]))
    )


def test_a_cell_is_the_mean_that_the_page_lists() -> None:
    """Samples in the page's order, conditions in that of the report."""
    said = texts(drawn(report(), "heatmap", "svg").content)
    start = said.index("own-failures")
    assert said[start:][:6] == ["own-failures", "a", "3.00", "1.00", "2.25", "4.50"]
    assert "Mean of each sample: 1 (light) to 5 (dark)" in said


def test_a_failure_of_the_agent_is_not_a_low_score() -> None:
    """The number that counts stands there, with a mark; the key says what it is."""
    grid = sample_grid(report(failed=("a",)))
    assert grid is not None
    assert [text_of(column, "a") for column in grid.columns] == ["1.00 ×", "4.50"]
    said = texts(drawn(report(failed=("a",)), "heatmap", "svg").content)
    assert "×: the agent failed an answer, which counts in the mean as the worst score." in said
    assert not any("×" in line for line in texts(drawn(report(), "heatmap", "svg").content))


def test_what_was_not_measured_is_empty() -> None:
    """It has neither a number nor a colour of the scale."""
    grid = sample_grid(report(means=sample_values({"a": 1.0})))
    assert grid is not None
    baseline, with_docs = grid.columns
    assert fill(baseline, "own-failures") == "#ffffff"
    assert fill(baseline, "a") != "#ffffff"
    assert fill(with_docs, "a") not in {fill(baseline, "a"), "#ffffff"}
    said = texts(drawn(report(means=sample_values({"a": 1.0})), "heatmap", "svg").content)
    assert "Empty: not measured, or the metric does not apply." in said


def test_a_condition_without_any_score_has_its_column() -> None:
    """It is not left out silently."""
    details = small_details()
    alone = dataclasses.replace(small_report(), details=dataclasses.replace(details, conditions=details.conditions[:1]))
    assert "with_docs" in texts(drawn(alone, "heatmap", "svg").content)


@pytest.mark.slow
def test_more_samples_than_can_be_read_are_counted() -> None:
    """The page and the plot show the same ones."""
    said = texts(drawn(large_report(2, MOST_SAMPLES + 30), "heatmap", "svg").content)
    assert sum(line.startswith("sample ") for line in said) == MOST_SAMPLES
    assert 'The other 30 samples are left out: keval sql LOG "FROM sample_scores"' in said


def test_names_that_look_alike_when_they_are_cut_are_numbered() -> None:
    """The key has them whole."""
    said = texts(drawn(large_report(3, 2, name=lambda plain: "x" * 40 + plain + "x" * 40), "heatmap", "svg").content)
    assert len({line for line in said if line[:2] in {"1:", "2:", "3:"} and "…" in line}) == 3
    assert f"2: {'x' * 40}condition 1{'x' * 40}" in said
