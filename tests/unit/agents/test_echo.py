from __future__ import annotations

from pathlib import Path

import pytest

from keval.agents.echo import Echo
from keval.config import plugin_options
from keval.usage import Usage
from tests.prompts import prompt


async def test_the_last_message_comes_back(tmp_path: Path) -> None:
    """Of a conversation it is the last message; nothing of the system prompt is said."""
    answer = await Echo().answer(prompt(tmp_path, turns=("First?", "Second?"), system_prompt="Be brief."))
    assert (answer.status, answer.text, [turn.text for turn in answer.turns]) == ("answered", "Second?", ["Second?"])
    assert answer.num_turns == 2


async def test_a_fixed_text_answers_every_question(tmp_path: Path) -> None:
    """It is used although it is empty: then the answer is."""
    assert (await Echo(text="7").answer(prompt(tmp_path))).text == "7"
    assert (await Echo(text=" ").answer(prompt(tmp_path))).status == "empty"


async def test_an_answer_costs_nothing_and_that_is_known(tmp_path: Path) -> None:
    """Cost and tokens are 0, not unknown."""
    answer = await Echo().answer(prompt(tmp_path))
    assert (answer.cost_usd, answer.usage, answer.models) == (0.0, Usage(0, 0, 0, 0), ())


def test_how_long_it_takes_makes_no_other_agent() -> None:
    """Only the text is part of what the agent is."""
    assert plugin_options.identity(Echo, {"delay_s": 1}) == plugin_options.identity(Echo, {})
    assert plugin_options.identity(Echo, {"text": "a"}) != plugin_options.identity(Echo, {})


def test_time_does_not_run_backwards() -> None:
    """A negative delay is refused with the config."""
    with pytest.raises(ValueError, match="delay_s"):
        Echo(delay_s=-1)
