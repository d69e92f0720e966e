"""Properties of forecasts: the table of fewest samples, and runs drawn from a pilot."""

from __future__ import annotations

import numpy as np
import pytest

from keval.stats.stopping_forecast import forecast, least_samples, stops
from keval.stats.stopping_rule import Compared, Difference, StoppingRule, look

RULE = StoppingRule(1)


@pytest.mark.parametrize(
    ("difference", "reach", "alone", "of_six"),
    [(1, 1, 9, 12), (1 / 3, 1, 22, 29), (4, 4, 9, 12), (2, 4, 15, 21), (1, 4, 28, 37), (0.5, 4, 53, 71)],
)
def test_no_data_decide_sooner(difference: float, reach: float, alone: int, of_six: int) -> None:
    """The fewest equal differences that exclude 0, alone and in a family of six."""
    assert [least_samples(difference, 0, reach, StoppingRule(size)) for size in (1, 6)] == [alone, of_six]


@pytest.mark.parametrize(("margin", "reach", "samples"), [(0.1, 1, 59), (0.05, 1, 121), (0.5, 4, 47), (0.2, 4, 121)])
def test_equality_takes_many_samples(margin: float, reach: float, samples: int) -> None:
    """The fewest samples without any difference that show it within the margin."""
    assert least_samples(0, -margin, reach, RULE) == samples


def test_runs_are_drawn_from_the_pilots_differences() -> None:
    """A large difference stops early, none stops hardly ever, and one beyond the pilot's is not known."""
    pilot = [1.0] * 10 + [0] * 20 + [-1] * 10
    large, none = (forecast(pilot, mean, RULE, Compared(1, 100)) for mean in (0.5, 0.0))
    assert large is not None
    assert none is not None
    assert large.samples < 40
    assert large.found > 0.99
    assert none.samples > 95
    assert none.stopped < 0.05
    assert forecast(pilot, 1.5, RULE, Compared(1, 100)) is None
    assert forecast(pilot, 0.5, RULE, Compared(1, 100)) == large


@pytest.mark.parametrize(("margin", "mean"), [(None, 0.0), (0.2, 0.0), (0.3, 0.3)])
def test_complete_runs_find_what_a_look_at_each_finds(margin: float | None, mean: float) -> None:
    """Higher, lower, no difference within the margin, or nothing; borderline apart, which needs a test by itself."""
    drawn = np.random.default_rng(2).choice(
        [-1.0, 0, 1], size=(12, 60), p=[0.1 - mean / 4, 0.8 - mean / 4, 0.1 + mean / 2]
    )
    compared = Compared(1, 60, margin)
    _, found = stops(drawn, StoppingRule(1, min_samples=60), compared)
    names = {1.0: "higher", -1.0: "lower", 0.0: "no difference within margin"}
    for row, direction in zip(drawn.tolist(), found.tolist(), strict=True):
        outcome = look(StoppingRule(1, min_samples=60), compared, [Difference.of(each) for each in row]).outcome
        assert outcome == "borderline" or names.get(direction, "cannot tell") == outcome


@pytest.mark.parametrize("margin", [None, 0.2])
def test_many_runs_at_once_stop_where_each_does(margin: float | None) -> None:
    """What a matrix of runs says is what one look after the other finds."""
    drawn = np.random.default_rng(1).choice([-1.0, 0, 1], size=(6, 60), p=[0.1, 0.5, 0.4])
    compared = Compared(1, 61, margin)
    samples, _ = stops(np.column_stack([drawn, np.zeros(6)]), RULE, compared)
    for row, stopped in zip(drawn.tolist(), samples.tolist(), strict=True):
        found = [Difference.of(each) for each in row]
        looks = (n for n in range(1, 61) if look(RULE, compared, found[:n]).is_decided)
        assert next(looks, 61) == stopped
