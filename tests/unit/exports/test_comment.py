"""Properties of the comment on a pull request: short, conclusion first, and what does not fit is named."""

from __future__ import annotations

import pytest

from keval.exports.comment import MARKER, Comment
from keval.exports.markdown import Markdown
from tests.reports import small_report


def comment(**options: int) -> str:
    """Return the small report as a comment."""
    return Comment(**options).render(small_report()).decode()


def test_the_conclusion_and_the_means_are_read_without_a_click() -> None:
    """They stand before the first part that is folded; everything else of the report is folded."""
    found = comment()
    shown, _, folded = found.partition("<details>")
    assert small_report().headlines[0].line in shown
    assert "completeness" in shown
    assert all(line in shown + folded for line in Markdown().render(small_report()).decode().splitlines()[5:]
               if line.startswith("|"))  # fmt: skip
    assert found.count("<details>") == found.count("</details>")


@pytest.mark.parametrize("length", [1_500, 2_000, 3_000])
def test_what_does_not_fit_is_named(length: int) -> None:
    """A comment is never longer than a CI takes, and says what it leaves out."""
    found = comment(max_characters=length)
    assert len(found) <= length
    assert "Too long for a comment: " in found
    assert small_report().headlines[0].line in found


def test_several_reports_share_the_length() -> None:
    """Together they are no longer than one may be."""
    both = Comment(max_characters=6_000).render_all([small_report(), small_report()]).decode()
    assert both.count(MARKER) == 2
    assert len(both) <= 6_000


def test_a_script_finds_its_comment_again() -> None:
    """The first line marks it, also for `-o`, which replaces an earlier comment only."""
    assert comment().startswith(MARKER)
    assert Comment().is_own(comment().encode())
    assert not Comment().is_own(Markdown().render(small_report()))
