"""What goes between deciding, doing and recording is plain data: it comes back from another process as it was."""

from __future__ import annotations

import pickle
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.agents import Answer, McpUse, Turn
from keval.executors.specs import AnswerSpec, JudgeSpec, Outcome
from keval.judges import Case, Judgment, OtherResponse, Score
from keval.retry import Failed
from keval.usage import Usage

TEXTS = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
USAGES = st.none() | st.builds(Usage, *[st.none() | st.integers(0)] * 4)
COSTS = st.none() | st.floats(0, 1e6)
TURNS = st.builds(Turn, st.sampled_from(["text", "tool_call"]), TEXTS, TEXTS, TEXTS, TEXTS, st.none() | OBJECTS, TEXTS)
ANSWERS = st.builds(
    Answer, st.sampled_from(["answered", "empty", "refused", "limit"]), TEXTS, st.lists(TURNS, max_size=3).map(tuple),
    st.dictionaries(TEXTS, st.builds(McpUse, TEXTS), max_size=2), st.lists(TEXTS, max_size=2).map(tuple), USAGES, COSTS,
)  # fmt: skip
SCORES = st.dictionaries(TEXTS, st.builds(Score, st.floats(-5, 5), TEXTS, st.none() | st.booleans()), max_size=3)
JUDGMENTS = st.builds(Judgment, SCORES, st.lists(TEXTS, max_size=2).map(tuple), st.none() | OBJECTS, USAGES, COSTS)
FAILURES = st.none() | st.builds(Failed, TEXTS, TEXTS, st.booleans(), COSTS, st.booleans())
CASES = st.builds(
    Case, OBJECTS, TEXTS, st.lists(OBJECTS, max_size=2).map(tuple), other=st.none() | st.builds(OtherResponse, TEXTS)
)
ALL = st.one_of(
    st.builds(
        AnswerSpec, st.lists(TEXTS).map(tuple), TEXTS, st.dictionaries(TEXTS, OBJECTS), st.integers(1, 9), TEXTS,
        st.none() | st.floats(0.1, 1e6),
    ),
    st.builds(JudgeSpec, TEXTS, CASES, TEXTS),
    st.builds(Outcome, ANSWERS, st.integers(0), FAILURES, st.none()),
    st.builds(Outcome, JUDGMENTS, st.integers(0), FAILURES, st.none()),
)  # fmt: skip

PLAIN = (str, int, float, bool, bytes, type(None), PurePath, Enum)


def not_plain(value: Any, place: str = "") -> list[str]:  # noqa: ANN401 - whatever a spec may hold
    """Return where something stands that is no data: a function, an open file, an exception, a lock."""
    if isinstance(value, PLAIN):
        return []
    if is_dataclass(value):
        parts = {each.name: getattr(value, each.name) for each in fields(value)}
    elif isinstance(value, dict):
        parts = {str(key): item for key, item in value.items()}
    elif hasattr(value, "_asdict"):
        parts = value._asdict()
    elif isinstance(value, list | tuple):
        parts = {str(number): item for number, item in enumerate(value)}
    else:
        return [f"{place}: {type(value).__name__}"]
    return [found for name, part in parts.items() for found in not_plain(part, f"{place}.{name}")]


@given(value=ALL)
def test_each_spec_and_outcome_comes_back_from_another_process_as_it_was(value: object) -> None:
    """A round trip through pickle changes nothing."""
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


@given(value=ALL)
def test_each_spec_and_outcome_is_data_and_nothing_else(value: object) -> None:
    """No function, file or exception hides in one, which another machine could not take."""
    assert not_plain(value) == []


@pytest.mark.parametrize("odd", [lambda: None, ValueError("no"), object()])
def test_what_is_no_data_is_found(odd: object) -> None:
    """The check above can fail: it names the place of whatever is no data."""
    case = Case({"id": [odd]}, "t")
    assert not_plain(JudgeSpec("j", case, "j1")) == [f".case.sample.id.0: {type(odd).__name__}"]
