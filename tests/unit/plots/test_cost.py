"""Properties of the plot of scores against cost and time."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.exports import _plots
from keval.plots.cost import AMOUNTS, GUTTER, PLOT, clouds, spread, unbeaten
from keval.plots.kinds import drawn
from keval.reports.model import ConditionSummary, Report
from tests.plotting import large_report, places, texts
from tests.reports import small_report, summary


def paid(*costs: float | None) -> Report:
    """Return a report of conditions that cost so much per answer."""
    report = large_report(len(costs), 6)
    found = zip(report.conditions, costs, strict=True)
    conditions = tuple(dataclasses.replace(each, agent_cost_per_answer_usd=cost) for each, cost in found)
    return dataclasses.replace(report, conditions=conditions)


def across(report: Report) -> list[float]:
    """Return how far right the means stand over cost, by condition."""
    found = places(drawn(report, "cost", "svg").content)
    return [found[f"mark-1-{number}"][0][0] for number in range(1, len(report.conditions) + 1)]


def test_means_are_those_of_the_page_for_each_amount() -> None:
    """Cost, median and 90th percentile of the time, for each metric; a mean is where and what the page has."""
    report = large_report(3, 6, 2)
    found = list(clouds(report))
    assert [cloud.amount.title for cloud in found] == [amount.title for amount in AMOUNTS for _ in range(2)]
    for panel, cloud in zip(_plots.means(report.metrics, None) * 3, found, strict=True):
        assert tuple(point.strip for point in cloud.points) == panel.strips
        assert all(point.words.startswith(f"{point.strip.words}; ") for point in cloud.points)


def test_numbers_stand_beside_the_points() -> None:
    """Name, mean, interval, samples and cost, in one line where there is room."""
    said = texts(drawn(small_report(), "cost", "svg").content)
    assert "with_docs: 3.88 [2.25, 5.00], n = 6; $0.0082" in said
    assert "with_docs: 3.88 [2.25, 5.00], n = 6; 1.00 s" in said


def test_what_costs_more_stands_further_right() -> None:
    """An axis of money begins at nothing: the distances are amounts."""
    one, two, three = across(paid(0.01, 0.02, 0.03))
    assert two - one == pytest.approx(three - two, abs=1e-4)
    assert "free" in texts(drawn(paid(0.01, 0.02, 0.03), "cost", "svg").content)


def test_from_ten_times_on_an_axis_is_logarithmic_and_says_so() -> None:
    """Equal distances are equal ratios."""
    one, two, three = across(paid(0.001, 0.01, 0.1))
    assert two - one == pytest.approx(three - two, abs=1e-4)
    assert "agent cost per answer, logarithmic" in texts(drawn(paid(0.001, 0.01, 0.1), "cost", "svg").content)
    assert "agent cost per answer, logarithmic" not in texts(drawn(paid(0, 0.01, 0.1), "cost", "svg").content)


def test_an_unknown_cost_has_its_own_place() -> None:
    """It is never 0: it stands left of the axis, under the word."""
    one, two, unknown = across(paid(0.0, 0.02, None))
    assert PLOT[0] < unknown < PLOT[0] + GUTTER < one < two
    said = texts(drawn(paid(0.0, 0.02, None), "cost", "svg").content)
    assert "unknown" in said
    assert any(line.endswith("; unknown") for line in said)


def test_a_cost_that_is_known_of_some_answers_only_says_so() -> None:
    """The mean of a part looks like that of all."""
    said = " ".join(texts(drawn(small_report(), "cost", "svg").content))
    assert "Attempts of unknown cost, which count in no cost per answer: baseline 3 of 18, with_docs 3 of 18." in said


def test_no_other_point_is_cheaper_and_as_good() -> None:
    """Pareto: equal ones are all in it, and what is unknown is neither in it nor beats anything."""
    assert unbeaten([(1, 0.5), (2, 0.9), (3, 0.8), (1, 0.5)]) == [0, 1, 3]
    assert unbeaten([(None, 0.9), (1, None), (2, 0.1), (1, 0.0)]) == [2, 3]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1))
def test_whatever_is_not_on_the_frontier_is_beaten_by_what_is(points: list[tuple[int, int]]) -> None:
    """Nothing is left out for a point that is beaten itself."""
    best = {points[number] for number in unbeaten(points)}
    for amount, mean in points:
        assert ((amount, mean) in best) != any(
            cost <= amount and score >= mean and (cost, score) != (amount, mean) for cost, score in best
        )


def test_the_frontier_is_drawn_from_three_conditions_on() -> None:
    """Its key says that chance is left aside: what is concluded from means alone may be noise."""
    two, three = large_report(2, 6), large_report(3, 6)
    by_mean = [[(score.mean or 0) / 1000 for score in found.metrics[0].scores] for found in (two, three)]
    told = [" ".join(texts(drawn(paid(*costs), "cost", "svg").content)) for costs in by_mean]
    assert ["(Pareto); chance is left aside" in said for said in told] == [False, True]
    assert len(next(clouds(paid(*by_mean[1]))).frontier) == 3


def test_what_nobody_knows_has_no_plot() -> None:
    """Where no cost is known there is time; of a condition that no answer tells of nothing is guessed."""
    report = paid(None, None)
    assert [cloud.amount.title for cloud in clouds(report)] == ["median time per answer", "p90 time per answer"]
    assert list(clouds(dataclasses.replace(report, conditions=()))) == []
    untold: tuple[ConditionSummary, ...] = (summary("baseline", condition_id="another"),)
    assert list(clouds(dataclasses.replace(report, conditions=untold))) == []


def test_equal_costs_stand_above_each_other() -> None:
    """Nothing is divided by their distance; free answers stand at 0."""
    assert len({*across(paid(0.02, 0.02))}) == 1
    assert len({*across(paid(0.0, 0.0))}) == 1


@given(st.lists(st.tuples(st.floats(min_value=0, max_value=10), st.floats(min_value=0.1, max_value=1)), max_size=12))
def test_labels_lie_below_each_other_in_the_order_of_the_points(found: list[tuple[float, float]]) -> None:
    """Each within the plot, none on another."""
    wanted, heights = [place for place, _ in found], [height for _, height in found]
    tops = spread(wanted, heights, 0, max(10.0, sum(heights)))
    order = sorted(range(len(found)), key=lambda number: wanted[number])
    at = 0.0
    for number in order:
        assert tops[number] >= at - 1e-9
        at = tops[number] + heights[number]
    assert at <= max(10.0, sum(heights)) + 1e-9
