"""Properties of where the marks of a plot stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.exports._strips import BINS, MOST_DOTS, MOST_STACKED, Axis, bar

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


@given(st.lists(VALUES, max_size=MOST_DOTS))
def test_no_two_dots_stand_on_one_place(values: list[float]) -> None:
    """Each sample has a dot of its own, or all are counted in columns."""
    dots = Axis(-4, 4).dots([(str(place), value) for place, value in enumerate(sorted(values))], compared=True)
    assert len(dots) in {0, len(values)}
    assert len({(round(dot.x), dot.level) for dot in dots}) == len(dots)
    assert all(dot.level < MOST_STACKED for dot in dots)
    assert all((dot.side == "better") == (dot.x > 50) for dot in dots if dot.x != 50)


def test_too_many_samples_are_counted() -> None:
    """Of more than fit there is no dot."""
    assert not Axis(0, 1).dots([("", place / MOST_DOTS) for place in range(MOST_DOTS + 1)])
    assert not Axis(0, 1).dots([("", 0.5)] * (MOST_STACKED + 1))


@given(st.dictionaries(VALUES, st.integers(min_value=1, max_value=1000)))
def test_columns_count_everything_once(found: dict[float, int]) -> None:
    """Their heights are shares of the highest one, and they lie beside each other within the axis."""
    columns = Axis(-4, 4).columns(found.items(), compared=True)
    assert all(0 < column.height <= 1 for column in columns)
    assert max((column.height for column in columns), default=1) == 1
    ends = [place for column in columns for place in (column.x, column.x + column.width)]
    assert ends == sorted(ends)
    assert all(0 <= end <= 100 for end in ends)


def test_columns_of_differences_have_one_for_those_that_are_none() -> None:
    """What is equal is neither better nor worse; what is a little better is not drawn as equal."""
    columns = Axis(-4, 4).columns([(-4, 1), (0, 2), (4, 1)], compared=True)
    assert [(column.side, column.height) for column in columns] == [("worse", 0.5), ("equal", 1), ("better", 0.5)]
    assert len(Axis(1, 5).columns([(score, 1) for score in (1, 2, 3, 4, 5)])) == 5
    assert len(Axis(0, 1).columns([(place / 1000, 1) for place in range(1001)])) == BINS


@given(st.tuples(*[st.integers(min_value=0, max_value=10_000)] * 4))
def test_a_bar_shows_every_part(counts: tuple[int, int, int, int]) -> None:
    """Parts stand beside each other, fill the bar, and one that is 0 is not there."""
    scored, failed, unmeasured, undone = counts
    parts = bar([("scored", scored), ("failed", failed), ("unmeasured", unmeasured), ("undone", undone)])
    assert len(parts) == sum(times > 0 for times in counts)
    assert sum(part.width for part in parts) == pytest.approx(100 if any(counts) else 0, abs=0.03)
