"""What a specification of errors says, and what is wrong with one."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import UsageError
from keval.mock import faults

NAMES = [*faults.HTTP_ERRORS, *faults.BREAKAGES]


def test_nothing_fails_by_default() -> None:
    """An empty specification never draws a fault."""
    assert {faults.parse("", 0).draw() for _ in range(100)} == {None}


def test_blanks_do_not_matter() -> None:
    """A specification may be written with spaces, and with a comma too many."""
    assert faults.parse(" 429 : 0.1 , cut:.5,", 0).shares == {"429": 0.1, "cut": 0.5}


@given(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1 / len(NAMES)), min_size=1), st.integers(0, 2**32))
def test_draws_follow_the_seed_and_the_shares(shares: dict[str, float], seed: int) -> None:
    """Equal seeds draw equally, and only faults with a share are drawn."""
    written = ",".join(f"{name}:{share!r}" for name, share in shares.items())
    one, other = faults.parse(written, seed), faults.parse(written, seed)
    drawn = [one.draw() for _ in range(50)]
    assert drawn == [other.draw() for _ in range(50)]
    assert set(drawn) <= {None, *(name for name, share in shares.items() if share)}


def test_shares_are_met_in_the_long_run() -> None:
    """Of many requests about the given share fails."""
    drawing = faults.parse("429:0.1,cut:0.3", 7)
    drawn = Counter(drawing.draw() for _ in range(10_000))
    assert drawn["429"] == pytest.approx(1000, rel=0.15)
    assert drawn["cut"] == pytest.approx(3000, rel=0.15)


def test_shares_may_add_up_to_exactly_one() -> None:
    """Rounding of decimal fractions is no reason to refuse."""
    assert faults.parse("429:0.1,500:0.2,529:0.3,cut:0.4", 0).draw()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("430:0.1", "unknown fault '430'"),
        ("429", "the share of 429 is ''"),
        ("429:often", "the share of 429 is 'often'"),
        ("429:1.5", "a number from 0 to 1"),
        ("429:-0.1", "a number from 0 to 1"),
        ("429:nan", "a number from 0 to 1"),
        ("429:0.1,429:0.2", "429 is there twice"),
        ("429:0.6,cut:0.6", "add up to 1.2"),
    ],
)
def test_a_wrong_specification_says_what_is_wrong_and_what_is_allowed(written: str, said: str) -> None:
    """The message names the mistake, an example and all known faults."""
    with pytest.raises(UsageError) as caught:
        faults.parse(written, 0)
    assert said in str(caught.value)
    assert all(name in str(caught.value) for name in (*NAMES, faults.EXAMPLE))
