from __future__ import annotations

import re
from math import sqrt
from pathlib import Path

import pytest
from scipy.stats import chi2

from keval import projections
from keval.ids import JsonObject
from keval.reports.agreement import judge_variations
from keval.stats.judge_variance import JudgeVariance
from tests.builders import judgment_event, response_event, run_event, write_log

EXAMPLE_T = {
    "A": "s1 [4,4][5,4][4,5] s2 [2,3][3,3][2,2] s3 [5,5][5,5][4] s4 [1,2][3,2][2,2] s5 [4,3][4,4] s6 [3,3][2,3][4,4]",
    "B": "s1 [5,5][5,4][5,5] s2 [3,3][4,3][3,3] s3 [5,5][5,4][5,5] s4 [2,2][2,3][3,3] s5 [4,4][5,4][4,4] "
    "s6 [3,3][3,3][4,3]",
}
"""Two conditions of the specification, responses in brackets with their judgments."""


def analysed(folder: Path, written: dict[str, str]) -> dict[str, JudgeVariance]:
    """Return how much a judge varies by condition, of judgments that are written as in the example."""
    events: list[JsonObject] = [run_event(tuple(written), samples=6, repetitions=3)]
    for condition, text in written.items():
        for sample, responses in re.findall(r"(s\d+) ([\[\]\d,]+)", text):
            for repetition, scores in enumerate(re.findall(r"\[([\d,]+)\]", responses), 1):
                answer = response_event(sample, condition, repetition)
                judged = enumerate(scores.split(","), 1)
                events += [answer, *(judgment_event(answer, float(score), replicate=n) for n, score in judged)]
    with projections.connect([write_log(folder / "run.jsonl", events)], texts=False) as connection:
        return {each.condition: each.variance for each in judge_variations(connection)}


@pytest.mark.slow
def test_the_judges_own_variation(tmp_path: Path) -> None:
    """SD, error of a response's score, reliability of one judgment and of two, repeats, interval by chi squared."""
    found = analysed(tmp_path, EXAMPLE_T)["B"]
    assert (found.sd, found.se_of_score) == pytest.approx((sqrt(1 / 6), sqrt(1 / 12)))
    between = 0.9148148 + 0.0277778
    assert found.reliability == pytest.approx(between / (between + 1 / 6))
    assert found.reliability_of_mean == pytest.approx(between / (between + 1 / 12))
    assert (found.repeated, found.identical, found.most_spread, found.is_deterministic) == (18, 12, 1, False)
    limits = (3 / chi2.ppf(0.975, 18), 3 / chi2.ppf(0.025, 18))
    assert (found.variance_lower, found.variance_upper) == pytest.approx(limits)


@pytest.mark.slow
def test_a_judge_that_repeats_itself(tmp_path: Path) -> None:
    """It has no interval and full reliability; where nothing varies at all, reliability is not known either."""
    fixed = analysed(tmp_path, {"x": "s1 [4,4] s2 [2,2] s3 [5,5]"})["x"]
    assert fixed.is_deterministic
    assert (fixed.variance, fixed.variance_lower, fixed.reliability) == (0, None, 1)
    flat = analysed(tmp_path, {"x": "s1 [4,4] s2 [4,4]"})["x"]
    assert flat.reliability is None


@pytest.mark.slow
def test_one_response_per_sample(tmp_path: Path) -> None:
    """Sample and response cannot be told apart, so their variance is one number; a negative one counts as 0."""
    found = analysed(tmp_path, {"x": "s1 [4,5] s2 [2,2] s3 [5,3]"})["x"]
    between, own = (3.5 - 2.5 / 3) / 2, 2.5 / 3
    assert found.variance == pytest.approx(own)
    assert found.reliability == pytest.approx(between / (between + own))
    assert analysed(tmp_path, {"x": "s1 [1,5] s2 [5,1]"})["x"].reliability == 0
