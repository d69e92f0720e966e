from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import Implementation
from pydantic import ValidationError

from keval import schema
from keval.agents import AgentError, _adapter
from keval.agents._adapter_events import Events
from keval.agents._function_result import read_result
from keval.agents.command import STDERR_TAIL, _check_ended_well, _failure
from keval.models.messages_api import LONGEST_MESSAGE
from keval.processes.mcp_client import innermost
from keval.processes.program import Ended
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


@pytest.mark.parametrize("before", range(0, 260, 11))
def test_what_an_agent_said_that_nobody_understands_is_quoted_without_a_part_of_a_secret(
    secrets: Secrets, before: int
) -> None:
    """What a function returned as a tool call, what a program wrote, and a server's reply that is none."""
    assert not secrets.is_empty
    said = "." * before + KEY
    with pytest.raises(AgentError) as error:
        read_result({"text": "", "tool_calls": [{"input": said}]}, (), tool_calls=True)
    assert not part_of_it(error.value.message)
    adapter = _adapter.load(Path(_adapter.__file__).with_name("codex.adapter.yaml"))
    with pytest.raises(AgentError) as error:
        _check_ended_well(adapter, Events(adapter.written, ()), Ended(0, said.encode(), b""))
    assert not part_of_it(error.value.message)
    with pytest.raises(ValidationError) as refused:
        Implementation.model_validate({"name": 1, "version": said, "icons": said})
    assert not part_of_it(innermost(refused.value))
