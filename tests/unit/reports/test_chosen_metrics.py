from __future__ import annotations

import pytest

from keval.errors import UsageError
from keval.reports.chosen_metrics import check_chosen

THERE = [("clarity", "rubric", "a1"), ("clarity", "stricter", "b2"), ("clarity", "rubric", "a1")]


@pytest.mark.parametrize("name", ["clarity", "rubric/clarity", "b2/clarity"])
def test_a_metric_is_named_alone_or_after_its_judge_or_the_judges_id(name: str) -> None:
    """The most exact name is the one with the id."""
    check_chosen([name], THERE)


def test_a_name_that_means_nothing_is_told_with_the_nearest_or_all() -> None:
    """Ids are no names that people look for, so they are not listed."""
    with pytest.raises(UsageError, match="--metric clarty: no such metric; did you mean 'clarity'"):
        check_chosen(["clarity", "clarty"], THERE)
    with pytest.raises(UsageError, match=r"there are: clarity, rubric/clarity, stricter/clarity$"):
        check_chosen(["x"], THERE)
