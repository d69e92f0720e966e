from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.judges._model_replies import UnusableReplyError, read
from keval.models.messages_api import Reply
from keval.usage import Usage

SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "integer", "enum": [1, 2, 3]}},
    "required": ["reasoning", "score"],
    "additionalProperties": False,
}
GOOD = {"reasoning": "Because.", "score": 2}


def reply(text: str, stop_reason: str | None = "end_turn") -> Reply:
    """Return a reply with this text."""
    return Reply(text, stop_reason, None, Usage(), None)


def changed(**fields: object) -> str:
    """Return a good reply's text with some fields changed."""
    return json.dumps(GOOD | fields)


@pytest.mark.parametrize("stop_reason", ["end_turn", "stop_sequence"])
def test_a_whole_reply_that_fits_its_schema_is_read(stop_reason: str) -> None:
    """White space around it does not matter."""
    assert read(reply(f" {json.dumps(GOOD)}\n", stop_reason), SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I would give 2.", "it is not one JSON object"),
        (f"Here it is: {json.dumps(GOOD)}", "it is not one JSON object"),
        (json.dumps(GOOD) * 2, "it is not one JSON object"),
        (f"```json\n{json.dumps(GOOD)}\n```", "it is not one JSON object"),
        ('{"score": 1, "score": 2}', "the key 'score' stands twice"),
        ("[" * 100_000, "it is not one JSON object"),
        (changed(score=0)[:-1] + "1" * 5000, "it is not one JSON object"),
        ('{"reasoning": "", "score": NaN}', "it is not one JSON object"),
        ("", "it is not one JSON object"),
        (" \n", "it is not one JSON object"),
        ("[]", "$: expected an object, found an array"),
        (changed(score=4), "$.score: 4 is not one of 1, 2, 3"),
        (changed(score=10**30), "is not one of 1, 2, 3"),
        (changed(score=2.5), "$.score: "),
        (changed(score="2"), "$.score: expected an integer, found '2'"),
        (changed(score=True), "$.score: expected an integer, found true"),
        (changed(score=None), "$.score: expected an integer, found null"),
        (changed(reasoning=None), "$.reasoning: expected a string, found null"),
        (changed(confidence=1), "$.confidence: unknown key 'confidence'"),
        (json.dumps({"score": 2}), "$: 'reasoning' is missing"),
    ],
)
def test_a_reply_that_does_not_fit_is_unusable_and_says_where(text: str, problem: str) -> None:
    """The message can be sent back to the model."""
    with pytest.raises(UnusableReplyError) as caught:
        read(reply(text), SCHEMA)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("stop_reason", "problem"),
    [
        ("max_tokens", "it was cut off at max_tokens"),
        ("refusal", "it was a refusal"),
        ("pause_turn", "it ended early (pause_turn)"),
        (None, "it ended early (None)"),
    ],
)
def test_a_reply_that_is_not_whole_is_unusable(stop_reason: str | None, problem: str) -> None:
    """Even if what is there looks right."""
    with pytest.raises(UnusableReplyError) as caught:
        read(reply(json.dumps(GOOD), stop_reason), SCHEMA)
    assert problem in str(caught.value)


@given(st.text() | st.from_regex(r"\{.*\}", fullmatch=True), st.sampled_from(["end_turn", "max_tokens", None]))
def test_any_reply_is_a_value_or_unusable(text: str, stop_reason: str | None) -> None:
    """No reply ends in another error."""
    with pytest.raises(UnusableReplyError):
        read(reply(text, stop_reason), SCHEMA)


@given(st.dictionaries(st.sampled_from(["reasoning", "score", "other"]), st.integers(-1, 5) | st.none() | st.text()))
def test_only_what_the_schema_allows_is_usable(written: dict[str, object]) -> None:
    """All keys, no other, each of its kind."""
    good = set(written) == {"reasoning", "score"} and (
        isinstance(written["reasoning"], str) and written["score"] in (1, 2, 3)
    )
    try:
        found = read(reply(json.dumps(written)), SCHEMA)
    except UnusableReplyError:
        assert not good
    else:
        assert good
        assert found == written
