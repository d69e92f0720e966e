"""A metric has the same names wherever a user names it."""

from __future__ import annotations

from keval.metric_names import names


def test_the_most_exact_name_is_the_last() -> None:
    """A metric is named alone, after its judge, or after its judge's id."""
    assert names("clarity", "rubric", "b" * 16) == ("clarity", "rubric/clarity", f"{'b' * 16}/clarity")
    assert names("clarity", "rubric") == ("clarity", "rubric/clarity")
