from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.usage import Usage, known_cost_usd, known_usage

USAGES = st.builds(Usage, *[st.none() | st.integers(0, 1000)] * 4)


def test_tokens_of_two_calls_add_up_kind_by_kind() -> None:
    """Where one call's number is not known, the sum is not, either."""
    assert Usage(1, 2, 3, None) + Usage(10, 20, None, 40) == Usage(11, 22, None, None)


@given(USAGES, USAGES)
def test_the_order_of_calls_does_not_matter(one: Usage, other: Usage) -> None:
    """A sum is a sum."""
    assert one + other == other + one


@pytest.mark.parametrize("amount", [True, "1", -1, None, {}, 1e300, 10**400])
def test_what_is_no_amount_is_not_known(amount: object) -> None:
    """A cost is a number from 0 on, tokens are counts, and both no larger than an event can hold."""
    assert known_cost_usd(amount) is None
    assert known_usage({"input_tokens": amount, "output_tokens": 3}) == Usage(output_tokens=3)
