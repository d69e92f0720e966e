"""Properties of where the marks of a plot stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.exports._strips import BINS, MOST_STACKED, Axis, Panel, Strip, bar
from keval.reports.details import MOST_SAMPLES

VALUES = st.floats(min_value=-4, max_value=4)


@given(VALUES, VALUES)
def test_what_is_larger_stands_further_right(one: float, other: float) -> None:
    """And everything stands within the axis."""
    axis = Axis(-4, 4)
    places = axis.place(min(one, other)), axis.place(max(one, other))
    assert 0 <= places[0] <= places[1] <= 100


@given(VALUES)
def test_a_place_says_its_value(value: float) -> None:
    """Read back from the axis it is the value, to the hundredth of a percent that is written."""
    assert Axis(-4, 4).place(value) / 100 * 8 - 4 == pytest.approx(value, abs=0.0005)


def test_what_lies_beyond_the_axis_stands_at_its_end() -> None:
    """A t interval may reach beyond a scale."""
    assert Axis(1, 5).line(0.2, 5.4) == (0, 100)
    assert Axis(1, 5).line(None, 5.4) is None
    assert Axis(1, 5).mark(None) is None


@given(st.lists(VALUES, max_size=MOST_SAMPLES))
def test_no_two_dots_stand_on_one_place(values: list[float]) -> None:
    """Each sample has a dot of its own; where they pile up too high, columns are drawn instead."""
    dots = Axis(-4, 4).dots([(str(place), value) for place, value in enumerate(sorted(values))], compared=True)
    assert len(dots) == len(values)
    assert len({(round(dot.x), dot.level) for dot in dots}) == len(dots)
    assert all((dot.side == "better") == (dot.x > 50) for dot in dots if dot.x != 50)


def test_too_many_samples_are_counted() -> None:
    """If those of one row are too many, no row of the plot has dots: the two would be read alike."""
    axis, few = Axis(0, 1), [("a", 0.5)] * MOST_STACKED
    assert axis.rows_of_dots([few, ()]) == [axis.dots(few), ()]
    assert axis.rows_of_dots([few, [*few, ("b", 0.5)]]) is None


@given(st.dictionaries(VALUES, st.integers(min_value=1, max_value=1000)))
def test_columns_count_everything_once(found: dict[float, int]) -> None:
    """They lie beside each other, around places of the axis."""
    columns = Axis(-4, 4).columns(found.items(), compared=True)
    assert sum(column.times for column in columns) == sum(found.values())
    ends = [place for column in columns for place in (column.x, column.x + column.width)]
    assert ends == sorted(ends)
    assert all(-3 < end < 103 for end in ends)


def test_columns_of_differences_have_one_for_those_that_are_none() -> None:
    """What is equal is neither better nor worse; what is a little better is not drawn as equal."""
    columns = Axis(-4, 4).columns([(-4, 1), (0, 2), (4, 1)], compared=True)
    assert [(column.side, column.times) for column in columns] == [("worse", 1), ("equal", 2), ("better", 1)]
    little = Axis(-4, 4).columns([(-0.01, 1), (0, 1), (0.01, 1)], compared=True)
    assert [column.side for column in little] == ["worse", "equal", "better"]
    assert len(Axis(0, 1).columns([(place / 1000, 1) for place in range(1001)])) == BINS + 1


@pytest.mark.parametrize("reach", [0.5, 1.5, 3.5, 5.5, 7.5, 9.5])
def test_no_difference_stands_in_the_middle_whatever_the_reach(reach: float) -> None:
    """An axis of an odd number of whole numbers, such as 15 on a scale to 10, has 0 between two of them."""
    worse, equal, better = Axis(-reach, reach).columns([(-reach, 1), (0, 2), (reach, 1)], compared=True)
    assert (worse.side, equal.side, better.side) == ("worse", "equal", "better")
    assert equal.x + equal.width / 2 == pytest.approx(50, abs=0.02)


@pytest.mark.parametrize("highest", [1, 2, 3, 4, 5, 7, 10, 19])
def test_a_whole_number_stands_in_the_middle_of_its_column(highest: int) -> None:
    """A tick below it is below it."""
    axis = Axis(0, highest)
    columns = axis.columns([(score, 1) for score in range(highest + 1)])
    middles = [column.x + column.width / 2 for column in columns]
    assert middles == pytest.approx([axis.place(score) for score in range(highest + 1)], abs=0.02)


def test_all_columns_of_a_plot_have_one_scale() -> None:
    """What is twice as high is twice as many, in whichever row it stands."""
    rows = [Axis(0, 1).columns([(0, 28)]), Axis(0, 1).columns([(0, 14), (1, 7)])]
    panel = Panel("", (), tuple(Strip("", "", columns=columns) for columns in rows))
    assert panel.highest == 28


def test_what_has_no_value_stands_beside_the_axis() -> None:
    """A failure is at no score; what is not there has no column."""
    axis = Axis(1, 5, 85)
    assert axis.place(5) == 85
    failed, unmeasured = axis.beside([("failed", 3), ("unmeasured", 2)])
    assert 85 < failed.x < unmeasured.x < 100
    assert (failed.kind, failed.times, unmeasured.kind) == ("failed", 3, "unmeasured")
    assert axis.beside([("failed", 0)]) == ()


@given(st.tuples(*[st.integers(min_value=0, max_value=10_000)] * 4))
def test_a_bar_shows_every_part(counts: tuple[int, int, int, int]) -> None:
    """Parts stand beside each other, fill the bar, and one that is 0 is not there."""
    scored, failed, unmeasured, undone = counts
    parts = bar([("scored", scored), ("failed", failed), ("unmeasured", unmeasured), ("undone", undone)])
    assert len(parts) == sum(times > 0 for times in counts)
    assert sum(part.width for part in parts) == pytest.approx(100 if any(counts) else 0, abs=0.03)
