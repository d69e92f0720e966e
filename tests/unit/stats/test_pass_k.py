from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.stats.pass_k import pass_at_k, pass_at_k_plugin, pass_every_k, pass_every_k_plugin


@pytest.mark.parametrize(
    ("passes", "trials", "k", "at", "every"),
    [
        (6, 10, 1, 0.6, 0.6),
        (6, 10, 3, 0.966667, 0.166667),
        (6, 10, 5, 1.0, 0.023810),
        (3, 5, 1, 0.6, 0.6),
        (3, 5, 2, 0.9, 0.3),
        (3, 5, 3, 1, 0.1),
        (3, 5, 5, 1, 0),
        (9, 10, 3, 1.0, 0.7),
        (2, 4, 2, 0.833333, 0.166667),
        (5, 8, 4, 1, 0.0714286),
        (12, 16, 8, 1, 0.0384615),
        (0, 4, 4, 0, 0),
        (4, 4, 4, 1, 1),
    ],
)
def test_the_unbiased_chances_are_those_of_the_specification(
    passes: int, trials: int, k: int, at: float, every: float
) -> None:
    """Worked examples, computed elsewhere."""
    assert pass_at_k(passes, trials, k) == pytest.approx(at, abs=1e-6)
    assert pass_every_k(passes, trials, k) == pytest.approx(every, abs=1e-6)


@pytest.mark.parametrize(
    ("passes", "k", "at", "every"),
    [
        (3, 5, 0.98976, 0.07776),
        (1, 3, 0.703704, 0.037037),
        (2, 4, 0.9375, 0.0625),
        (4, 5, 0.99968, 0.32768),
        (8, 10, 0.9999999, 0.1073742),
        (3, 4, 1 - 0.25**4, 0.31640625),
        (0, 4, 0, 0),
        (5, 5, 1, 1),
    ],
)
def test_the_plug_in_chances_are_those_of_the_seed(passes: int, k: int, at: float, every: float) -> None:
    """1 − (1 − p)^k and p^k with n = k, in full: 3 of 5 is 98.976 %, which rounds to 99.0 %, not to 98.9 %."""
    assert pass_at_k_plugin(passes, k, k) == pytest.approx(at, abs=1e-6)
    assert pass_every_k_plugin(passes, k, k) == pytest.approx(every, abs=1e-6)


def test_the_plug_in_chances_of_more_trials_than_k() -> None:
    """Worked examples: 2 of 4 trials at k = 2, and 5 of 8 at k = 4, where they are far from the unbiased ones."""
    assert (pass_at_k_plugin(2, 4, 2), pass_every_k_plugin(2, 4, 2)) == (0.75, 0.25)
    found = (pass_at_k_plugin(5, 8, 4), pass_every_k_plugin(5, 8, 4))
    assert found == pytest.approx((0.980225, 0.152588), abs=1e-6)


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 8))
def test_they_are_the_share_of_all_choices_of_k_trials(outcomes: list[bool], k: int) -> None:
    """pass@k is the share of all choices of k trials in which one passed, pass^k of those in which all did."""
    passes, trials = sum(outcomes), len(outcomes)
    if k > trials:
        assert (pass_at_k(passes, trials, k), pass_every_k(passes, trials, k)) == (None, None)
        return
    chosen = list(combinations(outcomes, k))
    assert pass_at_k(passes, trials, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_every_k(passes, trials, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_what_is_not_defined_is_null_or_refused() -> None:
    """Without a trial there is no rate; a k of 0, or more passes than trials, is a bug of the caller."""
    assert (pass_at_k_plugin(0, 0, 1), pass_every_k_plugin(0, 0, 1)) == (None, None)
    for passes, trials, k in ((1, 1, 0), (2, 1, 1), (-1, 1, 1)):
        with pytest.raises(ValueError, match="no pass@"):
            pass_at_k(passes, trials, k)
