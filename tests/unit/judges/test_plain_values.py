import json
import math
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keval.judges._plain_values import decoded, encoded

hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
values = st.recursive(
    hashable | st.complex_numbers(allow_nan=False),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(hashable, inner) | st.sets(hashable),
    max_leaves=10,
)


def through_json(value: Any) -> Any:  # noqa: ANN401 - any value
    """Return a value that was written and read."""
    return decoded(json.loads(json.dumps(encoded(value, lambda _: 7))), lambda number: f"reference {number}")


@settings(max_examples=40)
@given(values)
def test_plain_values_come_back(value: object) -> None:
    """With the types of all that is in them."""
    assert through_json(value) == value
    assert type(through_json(value)) is type(value)


def test_kinds_of_plain_values_become_plain_and_all_else_a_reference() -> None:
    """A subclass brings none of its own behaviour along."""
    assert through_json(Counter("aab")) == {"a": 2, "b": 1}
    assert type(through_json(Counter("aab"))) is dict
    assert through_json([object(), print]) == ["reference 7", "reference 7"]
    assert math.isnan(through_json(math.nan))
