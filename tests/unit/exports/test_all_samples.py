"""Properties of the table of single samples."""

from __future__ import annotations

import dataclasses
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from keval.exports._all_samples import MOST_SAMPLES, _worst_first, all_samples
from keval.exports._blocks import Lines, Table
from keval.reports.details import SampleDifferences
from tests.reports import compared, small_details, small_report, table


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
    details = small_details()
    many = dataclasses.replace(details.conditions[0], means=tuple((f"s{n}", 1.0) for n in range(MOST_SAMPLES + 30)))
    found = all_samples(dataclasses.replace(small_report(), details=dataclasses.replace(details, conditions=(many,))))
    assert found is not None
    drawn, left = found.blocks
    assert isinstance(drawn, Table)
    assert isinstance(left, Lines)
    assert (found.title, len(drawn.rows)) == ("200 of 230 samples", MOST_SAMPLES)
    assert left.lines[0][0] == 'The other 30 are left out: keval sql LOG "FROM sample_scores"'


def test_without_details_there_is_no_table() -> None:
    """A report of saved aggregates knows no sample."""
    assert all_samples(small_report()) is None


PAIRS = st.sampled_from([("quality", "a"), ("quality", "b"), ("tone", "a")])
CHANGES = st.dictionaries(
    st.tuples(PAIRS, st.integers(0, 3 * MOST_SAMPLES)), st.integers(-9, 9), min_size=1, max_size=4 * MOST_SAMPLES
)


@given(CHANGES, st.integers(0, 4 * MOST_SAMPLES))
@settings(max_examples=60)
def test_the_samples_shown_are_those_that_sorting_all_would_show(
    changes: dict[tuple[tuple[str, str], int], int], known: int
) -> None:
    """Of several metrics and conditions, a sample stands where its lowest change puts it; those without come last."""
    of_pair: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for (pair, sample), change in changes.items():
        of_pair.setdefault(pair, []).append((f"s{sample:04}", change / 2))
    differences = tuple(
        SampleDifferences("judge-id", metric, condition, "baseline", tuple(sorted(found, key=lambda each: each[::-1])))
        for (metric, condition), found in of_pair.items()
    )
    details = dataclasses.replace(small_details(), differences=differences)
    scales = {"quality": 4.0, "tone": 10.0}
    tables = tuple(table(compared("higher", (0.1, 0.0, 0.2)), metric=name, max=1 + scales[name]) for name in scales)
    ids = {f"s{sample:04}" for sample in range(known)}
    lowest = {
        name: min(change / scales[each.metric] for each in differences for of, change in each.differences if of == name)
        for each in differences
        for name, _ in each.differences
    }
    all_in_order = sorted(ids, key=lambda name: (lowest.get(name, math.inf), name))
    assert _worst_first(tables, details, ids) == all_in_order[:MOST_SAMPLES]
