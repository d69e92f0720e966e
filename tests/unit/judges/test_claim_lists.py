from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.judges import Metric, Score
from keval.judges._claim_lists import TOLERANCE, outcome, score

METRIC = Metric("m", 0, 1, type="continuous")
SHARE = {"for": ["right"], "half": ["partly"], "against": ["wrong"]}


def reply(said: float, right: int, wrong: int, partly: int = 0) -> dict[str, Any]:
    """Return what a model replied for one metric, with so many items in each list."""
    counts = {"right": right, "partly": partly, "wrong": wrong}
    return {name: ["x"] * count for name, count in counts.items()} | {"reasoning": "r", "score": said}


@pytest.mark.parametrize(
    ("said", "right", "wrong", "partly", "expected"),
    [
        (0.95, 1, 3, 0, 0.25),
        (0.25, 1, 3, 0, 0.25),
        (0.3, 1, 3, 0, 0.3),
        (0.31, 1, 3, 0, 0.25),
        (0.67, 2, 1, 0, 0.67),
        (1, 0, 1, 1, 0.25),
        (0, 1, 0, 0, 1),
    ],
)
def test_a_score_is_what_its_lists_come_to(said: float, right: int, wrong: int, partly: int, expected: float) -> None:
    """A number near the lists' share is rounding and stays; any other is replaced, with a word about it."""
    found = score(METRIC, reply(said, right, wrong, partly), SHARE)
    assert found.score == pytest.approx(expected)
    assert ("its lists come to" in (found.reasoning or "")) == (found.score != said)


@given(st.floats(0, 1), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_no_score_is_further_from_its_lists_than_rounding_goes(
    said: float, right: int, wrong: int, partly: int
) -> None:
    """Whatever the model says; without items there is no score."""
    found = score(METRIC, reply(said, right, wrong, partly), SHARE)
    whole = right + wrong + partly
    assert (found.score is None) == (whole == 0)
    if found.score is not None:
        assert abs(found.score - (right + partly / 2) / whole) <= TOLERANCE + 1e-6


def test_the_share_is_laid_over_the_metrics_scale() -> None:
    """Half of the items is the middle of any scale."""
    assert score(Metric("m", 1, 5), reply(5, 1, 1), SHARE).score == 3


def test_without_lists_the_models_score_counts() -> None:
    """A whole number that came as 4.0 is one."""
    assert score(Metric("m", 1, 5), {"reasoning": "r", "score": 4.0}, None) == Score(4, "r")


def test_the_outcome_holds_the_lists_and_what_was_recomputed() -> None:
    """A reader can check the lists; without any there is no outcome."""
    said = {"m": reply(0.9, 0, 1)}
    lists = {"m": {"lists": ["right", "partly", "wrong"], "share": SHARE}}
    scores = {"m": score(METRIC, said["m"], SHARE)}
    assert outcome([METRIC], said, lists, scores) == {
        "lists": {"m": {"right": [], "partly": [], "wrong": ["x"]}},
        "recomputed": {"m": {"said": 0.9, "computed": 0}},
    }
    assert outcome([METRIC], said, {}, scores) is None
