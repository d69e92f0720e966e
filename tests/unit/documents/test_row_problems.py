"""What is wrong with the rows of a file."""

from __future__ import annotations

from keval.documents.row_problems import MOST_PRINTED, RowProblems


def test_what_is_wrong_in_many_rows_is_one_problem() -> None:
    """It stands where it was found first, also where the rows word it differently."""
    problems = RowProblems()
    problems.add("q:1", "is blank")
    problems.add("q:2", "not 7", "not a number")
    problems.add("q:3", "is blank")
    problems.add("q:4", "not 8", "not a number")
    assert list(problems.told()) == ["q:1 and 1 more row: is blank", "q:2 and 1 more row: not 7"]
    assert len(problems) == 2


def test_problems_beyond_the_limit_are_counted() -> None:
    """Nobody reads a thousand lines."""
    problems = RowProblems()
    for number in range(1000):
        problems.add(f"q:{number}", f"the id {number} is taken")
    *_, last = told = list(problems.told())
    assert (len(told), len(problems), last) == (MOST_PRINTED + 1, 1000, "… and 980 more")
