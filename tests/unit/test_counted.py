from __future__ import annotations

import pytest

from keval.counted import counted, first_of


@pytest.mark.parametrize(
    ("times", "said"), [(0, "0 answers"), (1, "1 answer"), (2, "2 answers"), (1_234_567, "1,234,567 answers")]
)
def test_one_thing_is_in_the_singular(times: int, said: str) -> None:
    """Whatever is not one is in the plural, and thousands are set apart."""
    assert counted(times, "answer") == said


@pytest.mark.parametrize(("names", "said"), [([], ""), (["a"], "a"), ([*"ab"], "a, b"), ([*"abc"], "a, b, and 1 more")])
def test_of_many_names_the_rest_is_counted(names: list[str], said: str) -> None:
    """Whoever reads the first ones knows how many are left."""
    assert first_of(names, 2) == said
