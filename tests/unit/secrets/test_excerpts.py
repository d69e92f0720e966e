from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import schema
from keval.agents.command import STDERR_TAIL, _failure
from keval.models.messages_api import LONGEST_MESSAGE
from keval.secrets.excerpts import beginning_of, end_of, last_lines
from keval.secrets.variables import Secrets

KEY = "s3cr3t-0123456789-abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(name="secrets")
def _secrets() -> Secrets:
    """Return secrets that hold one; whoever cuts finds them as all of this process do."""
    secrets = Secrets({"TOKEN": KEY})
    secrets.register(["TOKEN"])
    return secrets


def part_of_it(text: str) -> bool:
    """Return whether a text holds a part of the secret that says something of it."""
    return any(KEY[start : start + 5] in text for start in range(len(KEY) - 5))


@given(before=st.integers(0, 60), after=st.integers(0, 60), limit=st.integers(1, 80))
def test_no_part_of_a_secret_is_left_at_a_cut(secrets: Secrets, before: int, after: int, limit: int) -> None:
    """Wherever it stands and wherever the cut falls, at the beginning and at the end."""
    assert not secrets.is_empty
    text = "." * before + KEY + "." * after
    assert not part_of_it(beginning_of(text, limit))
    assert not part_of_it(end_of(text, limit))


def test_a_secret_of_several_lines_leaves_none_of_them() -> None:
    """Lines are counted once the secret is out."""
    secrets = Secrets({"PEM": "first line\nsecond line\nthird line"})
    secrets.register(["PEM"])
    assert last_lines("before\nfirst line\nsecond line\nthird line\nafter", 2) == "${PEM} / after"


@pytest.mark.parametrize("before", range(0, 450, 7))
def test_messages_are_cut_without_a_part_of_a_secret(secrets: Secrets, before: int) -> None:
    """A value that a schema refuses, an error of a service."""
    assert not secrets.is_empty
    text = "." * before + KEY + " " + KEY
    assert not part_of_it(str(schema.event_problem({"type": text, "v": text})))
    assert not part_of_it(beginning_of(text, LONGEST_MESSAGE))


def test_the_end_of_a_programs_stderr_holds_no_part_of_a_secret(secrets: Secrets) -> None:
    """A program writes its key, and then just so much that a cut would fall into the key."""
    assert not secrets.is_empty
    for length in range(STDERR_TAIL - len(KEY), STDERR_TAIL):
        said = _failure(1, (KEY + "." * length).encode()).message
        assert not part_of_it(said)
