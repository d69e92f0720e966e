from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.readable import (
    count,
    cut,
    cut_inside,
    dollars,
    duration,
    interval,
    kinds,
    number,
    percent,
    probability,
    share,
    written_number,
)


def test_a_cut_is_marked() -> None:
    """200 characters stay; of 201, 199 stay and a mark."""
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 201) == "x" * 199 + "…"


@given(st.text(st.characters(exclude_characters="…")), st.integers(2, 60))
def test_a_cut_inside_keeps_the_beginning_and_the_end(text: str, most: int) -> None:
    """What is left is as long as it may be, and a short text stays whole."""
    found = cut_inside(text, most)
    begin, mark, end = found.partition("…")
    assert len(found) == min(len(text), most)
    assert found == text or (mark and text.startswith(begin) and text.endswith(end) and len(end) >= len(begin))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (3.402778, "3.40"),
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (0.0049, "0.0049"),
        (-0.0012345, "-0.0012"),
        (-0.375, "-0.38"),
    ],
)
def test_a_mean_has_two_decimals_and_unknown_is_a_dash(value: float | None, shown: str) -> None:
    """A small number never looks like 0, and 0 has no sign."""
    assert number(value) == shown


def test_an_interval_that_excludes_0_looks_as_if_it_did() -> None:
    """The bound nearest to 0 keeps its digits."""
    assert interval(0.0012, 0.5, "+") == "[+0.0012, +0.50]"
    assert interval(None, 0.5) == "–"


def test_only_a_difference_that_is_one_has_a_sign() -> None:
    """+0.38, -0.38, and 0.00 for none at all."""
    assert [number(value, "+") for value in (0.375, -0.375, 0.0)] == ["+0.38", "-0.38", "0.00"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0, "0.00 s"), (3.3, "0.0033 s"), (15.02, "0.015 s"), (83.3, "0.083 s"), (12345, "12.35 s")],
)
def test_durations_are_in_seconds(value: float | None, shown: str) -> None:
    """One unit for all, so that conditions can be compared at a glance; a short one is not 0."""
    assert duration(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "free"),
        (0.0123, "$0.0123"),
        (0.000012, "$0.000012"),
        (0.5, "$0.5000"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money_has_sensible_digits(value: float | None, shown: str) -> None:
    """Cents of large amounts, two digits at least of small ones."""
    assert dollars(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0.0, "0"), (0.00009, "< 0.0001"), (0.0001, "0.0001"), (0.0456, "0.046")]
)
def test_a_p_has_two_digits_unless_they_mean_nothing(value: float | None, shown: str) -> None:
    """Of a very small one only that it is small is shown; a p of 0 is what a caller gave."""
    assert probability(value) == shown


def test_a_share_has_one_decimal() -> None:
    """An unknown one is a dash, and not 0.0 %."""
    assert (percent(None), percent(0.0), percent(0.1254)) == ("–", "0.0%", "12.5%")


def test_failures_are_summed_and_named_by_kind() -> None:
    """In the order in which they are given; without any there is only the 0."""
    assert (kinds({"timeout": 2, "infra_error": 1}), kinds({})) == ("3 (timeout 2, infra_error 1)", "0")


def test_unknown_counts_are_not_0() -> None:
    """A plan that nobody wrote down is a dash."""
    assert (count(None), count(0), count(12345)) == ("–", "0", "12,345")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"), (0.0, "0 %"), (0.0025, "less than 1 %"), (0.005, "less than 1 %"), (0.0051, "1 %"), (0.12, "12 %"),
        (0.994, "99 %"), (0.9975, "more than 99 %"), (1.0, "100 %"),
    ],
)  # fmt: skip
def test_a_share_looks_like_nothing_or_all_only_if_it_is(value: float | None, shown: str) -> None:
    """1 of 400 is not 0 %, and 399 of 400 are not 100 %."""
    assert share(value) == shown


@pytest.mark.parametrize(
    ("written", "found"),
    [("4", 4), ("4.5", 4.5), ("1e0", 1), (" 3 ", 3), ("0_4", None), ("4,5", None), ("0x4", None), ("", None)],
)
def test_a_number_is_read_as_people_write_it(written: str, found: float | None) -> None:
    """`0_4` is four to Python, and a slip of the finger to everybody else."""
    assert written_number(written) == found
