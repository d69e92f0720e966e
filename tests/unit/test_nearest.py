"""What is said of a name that is not known is the same wherever a user types one."""

from __future__ import annotations

import pytest

from keval.nearest import hint, near


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


def test_a_hint_is_given_only_where_a_name_is_near() -> None:
    """It ends a message; values of a choice need not be texts."""
    assert hint("repot", ["report", "run"]) == "; did you mean 'report'?"
    assert hint("zzz", ["report", 1]) == ""
