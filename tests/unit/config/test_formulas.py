from __future__ import annotations

import pytest

from keval.config.formulas import ComputedMetric, Part
from keval.judges import Metric

UNIT, FIVE = Metric("hit_rate", 0, 1), Metric("clarity", 1, 5)


def combined(*metrics: Metric, beta: float = 0.5, judge_id: str = "j") -> ComputedMetric:
    parts = tuple(Part("judge", judge_id, metric, 2) for metric in metrics)
    return ComputedMetric("value", "combined", parts, None, beta, 1000)


def weighted(**weights: float) -> ComputedMetric:
    metrics = {"hit_rate": UNIT, "clarity": FIVE}
    return ComputedMetric(
        "overall", "weighted", tuple(Part("judge", "j", metrics[name], w) for name, w in weights.items())
    )


def test_the_scale_of_a_mean_is_the_mean_of_the_scales() -> None:
    """A mean of scales from 0 to 1 and from 1 to 5 with weights 3 and 1 reaches from 0.25 to 2."""
    metric = weighted(hit_rate=3, clarity=1)
    assert (metric.min, metric.max) == (0.25, 2)


def test_the_scale_of_a_product_ends_at_a_single_token() -> None:
    """More tokens come near to 0, whatever the worst score is, and nothing takes less than one token."""
    metric = combined(FIVE)
    assert metric.min == 0
    assert metric.max == pytest.approx(25 * 1000**0.5)


def test_without_tokens_a_product_ends_at_its_parts() -> None:
    """An exponent of 0 takes the tokens out of the scale."""
    metric = combined(FIVE, beta=0)
    assert (metric.min, metric.max) == (1, 25)


def test_a_formula_is_said_in_words_of_the_config() -> None:
    """People read of judges and metrics by the names that the config gives them."""
    assert combined(UNIT, FIVE).formula == "judge/hit_rate^2 · judge/clarity^2 / (tokens / 1000)^0.5"
    assert weighted(hit_rate=3, clarity=1).formula == "(3 · judge/hit_rate + 1 · judge/clarity) / 4"


def test_another_formula_is_another_metric() -> None:
    """Exponents, parts and the judges behind them are the identity; a target is not."""
    same = combined(UNIT).described()["judge_id"]
    target = ComputedMetric("value", "combined", combined(UNIT).parts, 1.0, 0.5, 1000)
    others = [combined(UNIT, beta=1), combined(FIVE), combined(UNIT, judge_id="k"), weighted(hit_rate=2)]
    assert target.described()["judge_id"] == same
    assert len({same, *(metric.described()["judge_id"] for metric in others)}) == 1 + len(others)
