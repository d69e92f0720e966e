from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keval.agents._templates import fill, fill_all


@given(st.text(), st.text())
def test_what_is_filled_in_is_not_read_again(question: str, literal: str) -> None:
    """Braces in a question mean nothing, and doubled braces in a template are braces."""
    template = literal.replace("{", "{{").replace("}", "}}") + "{question}"
    assert fill(template, {"question": question}) == literal + question


def test_a_text_that_is_one_placeholder_becomes_the_value() -> None:
    """A list stays a list; within a longer text it is written out."""
    values = {"turns": ["a", "b"], "n": 3}
    filled = fill_all({"{n}": ["{turns}", "{n}", "n={n}", "{{n}}", None, 1.5]}, values)
    assert filled == {"{n}": [["a", "b"], 3, "n=3", "{n}", None, 1.5]}
