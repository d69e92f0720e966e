"""Properties of the test whether any of three conditions or more differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from keval.ids import JsonObject
from keval.stats.asked import Asked
from keval.stats.friedman import Friedman
from tests.aggregated import bodies
from tests.builders import judgment_event, response_event, run_event

NAMES = ("friedman_chi2", "p_friedman", "kendall_w")
Scores = Mapping[str, Sequence[float | None]]


def comparisons(folder: Path, scores: Scores, *, cluster_key: str | None = None) -> list[JsonObject]:
    """Return the comparisons of a log with these scores of each condition's samples; None: it has no answer."""
    config = {"name": "test", "dataset": {"path": "q.jsonl"} | ({"cluster_key": cluster_key} if cluster_key else {})}
    events = [run_event(list(scores), samples=max(map(len, scores.values())), config=config)]
    for condition, values in scores.items():
        for number, score in enumerate(values):
            if score is not None:
                response = response_event(f"q{number}", condition)
                events += [response, judgment_event(response, score)]
    return [each for each in bodies(folder, events, asked=Asked(friedman=True)) if each["type"] == "comparison"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "samples", "numbers"),
    [
        ({"a": [5] * 5, "b": [3] * 5, "c": [2] * 5}, 5, (10.0, 0.00673794699909, 1.0)),
        ({"a": [5, 5, 4, 2], "b": [5, 3, 1, 2], "c": [1, 3, 4, 2]}, 4, (8 / 3, 0.263597138115, 1 / 3)),
        ({"a": [5, 5, None], "b": [3, 3, 4], "c": [1, 1, 2]}, 2, (4.0, 0.135335283237, 1.0)),
    ],
)
def test_it_is_that_of_the_samples_that_all_conditions_have(
    tmp_path: Path, scores: Scores, samples: int, numbers: tuple[float, float, float]
) -> None:
    """Values that are equal share a rank, and each comparison of the metric says the same."""
    for found in comparisons(tmp_path, scores):
        assert (found["n_conditions"], found["n_complete"]) == (3, samples)
        assert [found[name] for name in NAMES] == pytest.approx(numbers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({"a": [5, 4, 3], "b": [1, 2, 3]}, "fewer than 3 conditions have a value"),
        ({"a": [None], "b": [None], "c": [None]}, "fewer than 3 conditions have a value"),
        ({"a": [5, 3], "b": [5, 3], "c": [5, 3]}, "no sample has two different values"),
        (
            {"a": [5, 4], "b": [1, None], "c": [2, 3]},
            "fewer than 2 samples have a value under all 3 conditions",
        ),
    ],
)
def test_what_is_not_defined_is_null_with_its_reason(tmp_path: Path, scores: Scores, reason: str) -> None:
    """Never 1, which would say that nothing differs."""
    compared = comparisons(tmp_path, scores)
    assert len(compared) == len(scores) - 1
    for found in compared:
        assert {(found[name], found["reasons"][name]) for name in NAMES} == {(None, reason)}


@pytest.mark.slow
def test_samples_that_belong_together_are_not_tested(tmp_path: Path) -> None:
    """The test takes each sample for independent of the others."""
    found = comparisons(tmp_path, {"a": [5, 4, 3], "b": [1, 2, 3], "c": [2, 2, 1]}, cluster_key="book")
    assert {each["p_friedman"] for each in found} == {None}
    assert "not independent" in found[0]["reasons"]["p_friedman"]


@pytest.mark.slow
@given(
    st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=2, max_size=12).filter(
        lambda rows: any(len(set(row)) > 1 for row in rows)
    )
)
def test_it_is_scipys(tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]]) -> None:
    """With ties, too."""
    columns = list(zip(*rows, strict=True))
    found = comparisons(tmp_path_factory.mktemp("drawn"), dict(zip("abc", columns, strict=True)))[0]
    chi2, p = friedmanchisquare(*columns)
    assert found["friedman_chi2"] == pytest.approx(chi2, abs=1e-9)
    assert found["p_friedman"] == pytest.approx(p, abs=1e-9)


def test_agreement_is_a_share() -> None:
    """Kendall's W is 1 where all samples put the conditions into one order."""
    assert Friedman(3, 5, 10.0).kendall_w == 1
    assert Friedman(2).p is None
