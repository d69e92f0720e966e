"""Properties of the table of single samples."""

from __future__ import annotations

import dataclasses

from keval.exports._all_samples import all_samples
from keval.exports._blocks import Lines, Table
from keval.reports.details import MOST_SAMPLES
from tests.reports import sample_values, small_details, small_report


def test_samples_stand_with_their_means_the_worst_first() -> None:
    """A row per sample, a column per metric and condition."""
    found = all_samples(dataclasses.replace(small_report(), details=small_details()))
    assert found is not None
    (drawn,) = found.blocks
    assert isinstance(drawn, Table)
    assert drawn.columns == ("sample", "completeness, baseline", "completeness, with_docs")
    assert drawn.rows == (("own-failures", "3.00", "2.25"), ("a", "1.00", "4.50"))


def test_more_samples_than_a_page_shows_are_counted() -> None:
    """What is left out is said, and how to see it."""
    details, shown = small_details(), tuple(f"s{n}" for n in range(MOST_SAMPLES))
    means = sample_values({f"s{n}": 1.0 for n in range(MOST_SAMPLES + 30)}, shown)
    many = dataclasses.replace(details.conditions[0], means=means)
    details = dataclasses.replace(details, conditions=(many,), samples=shown, left_out=30)
    found = all_samples(dataclasses.replace(small_report(), details=details))
    assert found is not None
    drawn, left = found.blocks
    assert isinstance(drawn, Table)
    assert isinstance(left, Lines)
    assert (found.title, len(drawn.rows)) == ("200 of 230 samples", MOST_SAMPLES)
    assert left.lines[0][0] == 'The other 30 are left out: keval sql LOG "FROM sample_scores"'


def test_without_details_there_is_no_table() -> None:
    """A report of saved aggregates knows no sample."""
    assert all_samples(small_report()) is None
