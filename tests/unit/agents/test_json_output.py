from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.agents import AgentError
from keval.agents._json_output import JsonOutput, json_path, look_up

NAMES = st.text(st.characters(exclude_characters="'\"", codec="utf-8"))


@given(st.lists(st.integers(0, 3) | NAMES, max_size=5), st.sampled_from("'\""))
def test_a_path_finds_what_was_put_there(steps: list[int | str], quote: str) -> None:
    """Any key in quotes and any position leads back to its value."""
    document: Any = "here"
    for step in reversed(steps):
        document = {step: document} if isinstance(step, str) else [None] * step + [document]
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f"[{quote}{step}{quote}]" for step in steps)
    assert look_up(document, json_path(path)) == "here"


def test_an_error_says_where_it_was_looked_for() -> None:
    """Both what was read and the path are named."""
    with pytest.raises(AgentError, match="the reply is not JSON"):
        JsonOutput.read("<p>", "the reply")
    with pytest.raises(AgentError, match=r"the reply has a list at \$.a, not a text"):
        JsonOutput.read('{"a": []}', "the reply").text("$.a")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("thinking ...\n{}", r"stdout is not JSON: .*; it begins: thinking \.\.\.\n\{\}"),
        (" \n", "stdout is not JSON: .*; it is empty"),
        (b"\xff" + b"x" * 999, "it begins: \ufffdx{199}…$"),
        ('{"text": "x", "b": 1}', r"stdout has nothing at \$\.a; it is an object with 'text', 'b'"),
        ("{}", "it is an object$"),
        ('"x"', "it is a text$"),
        ("[1]", "it is a list$"),
    ],
)
def test_an_error_shows_what_was_there_instead(output: str | bytes, said: str) -> None:
    """A program that prints something else beside its JSON is the most common mistake."""
    with pytest.raises(AgentError, match=said):
        JsonOutput.read(output, "stdout").text("$.a")
