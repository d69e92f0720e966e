"""A metric has the same names wherever a user names it."""

from __future__ import annotations

import pytest

from keval.metric_names import names, near


def test_the_most_exact_name_is_the_last() -> None:
    """A metric is named alone, after its judge, or after its judge's id."""
    assert names("clarity", "rubric", "b" * 16) == ("clarity", "rubric/clarity", f"{'b' * 16}/clarity")
    assert names("clarity", "rubric") == ("clarity", "rubric/clarity")


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("rubric/clarty", ["clarity", "rubric/clarity"], "did you mean 'rubric/clarity'?"),
        ("zzz", ["clarity", "rubric/clarity", "clarity"], "there are: clarity, rubric/clarity"),
        ("zzz", [], "there are: none"),
    ],
)
def test_a_name_that_nothing_has_tells_what_may_be_meant(name: str, known: list[str], said: str) -> None:
    """The nearest name, or each that there is, once."""
    assert near(name, known) == said
