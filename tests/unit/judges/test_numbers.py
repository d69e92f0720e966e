import itertools
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.judges._numbers import numbers, plain, shown

decimals = st.decimals(min_value=-(10**12), max_value=10**12, places=3)


def read(text: str) -> Fraction | None:
    """Return the one number of a text."""
    (number,) = numbers(plain(text))
    return number.value


@pytest.mark.parametrize(
    "written",
    [
        "{:.3f}",
        "{:,.3f}",
        "${:.3f}",
        "{:.3f} %",
        "about {:.3f}.",
        "**{:.3f}**",
        "({:.3f})",
        "\\boxed{{{:.3f}}}",
        "{:.3f} apples, then",
        "x={:.3f}",
    ],
)
@given(value=decimals)
def test_what_is_printed_in_any_format_is_read_back(written: str, value: Decimal) -> None:
    """Exactly, with its sign."""
    assert read(written.format(value)) == Fraction(value)


@given(value=decimals, space=st.sampled_from(["\u00a0", "\u2009", "\u202f", "'", "_"]))
def test_groups_of_digits_may_be_apart(value: Decimal, space: str) -> None:
    """By any of the characters that keep a number together."""
    assert read(f"{value:,.3f}".replace(",", space)) == Fraction(value)


@given(st.fractions(max_denominator=999))
def test_fractions_are_read_back(value: Fraction) -> None:
    """Also printed as LaTeX."""
    assert read(f"{value.numerator}/{value.denominator}") == value
    assert read(f"\\frac{{{value.numerator}}}{{{value.denominator}}}") == value


@given(st.integers(-(10**6), 10**6), st.integers(-20, 20))
def test_powers_of_ten_are_read_back(digits: int, power: int) -> None:
    """In both notations."""
    value = digits * Fraction(10) ** power
    assert read(f"{digits}e{power}") == value
    assert read(f"{digits} × 10^{power}") == value
    assert read(f"{digits} \\times 10^{{{power}}}") == value


@given(decimals)
def test_a_value_is_shown_as_it_can_be_read(value: Decimal) -> None:
    """Without trailing zeros."""
    written = shown(Fraction(value))
    assert read(written) == Fraction(value)
    assert "." not in written or not written.endswith("0")


@given(st.text())
def test_any_text_has_numbers_or_none(text: str) -> None:
    """In order, apart from each other, and nothing is raised."""
    found = list(numbers(plain(text)))
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


@pytest.mark.slow
def test_very_many_groups_of_digits_are_read_at_once() -> None:
    """Were each start tried up to the end, this would take minutes."""
    assert {each.value for each in numbers("123 " * 100_000 + "1")} == {Fraction(123), Fraction(1)}


def test_what_is_longer_than_any_number_is_none() -> None:
    """Also of groups with spaces between them."""
    assert read("123" + " 456" * 99) == int("123" + "456" * 99)
    assert [each.value for each in numbers("123 " * 200)][-1] is None
