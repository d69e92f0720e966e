from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import schema
from keval.ids import JsonObject
from keval.logs.redaction import redacted
from keval.secrets.variables import Secrets
from tests.builders import (
    failure_event,
    judgment_event,
    plan_event,
    response_event,
    run_event,
    sample,
    sample_change_event,
)

CALL = {
    "type": "tool_call", "id": "c", "name": "mcp__docs__search", "server": "docs", "input": {"text": "text"},
    "result": "text", "error": False, "duration_ms": 1,
}  # fmt: skip
RESPONSE = response_event("q1", turns=[CALL], text="text")
EVENTS = [
    run_event(plan_id="planned in full"),
    plan_event(["question one", "question two"]),
    RESPONSE,
    sample_change_event(sample(), "answer", "topic"),
    judgment_event(RESPONSE),
    failure_event(RESPONSE),
]
OWN = {
    "type",
    "time",
    "condition",
    "stage",
    "kind",
    "question_ids",
    "changed",
    "sample",
    "sample_fields",
    "config_name",
}


def words(value: object) -> set[str]:
    """Return every key, text and number of a JSON value, and parts of them."""
    texts = {word for word in json.dumps(value).split('"') if len(word) >= 4}
    numbers = set(re.findall(r"[0-9][0-9.]{3,}", json.dumps(value)))
    return texts | {text[:4] for text in texts} | {text[-5:] for text in texts} | numbers


@pytest.mark.parametrize("event", EVENTS, ids=[event["type"] for event in EVENTS])
def test_no_value_of_a_variable_can_spoil_an_event(event: JsonObject) -> None:
    """Whatever word of an event a secret happens to be, the event stays valid and keeps its identities."""
    for word in sorted(words(event)):
        secrets = Secrets({"WORD": word})
        secrets.register(["WORD"])
        made = redacted(event, secrets)
        assert schema.event_problem(made) is None, word
        for name, value in event.items():
            if name.endswith(("id", "sha256")) or name in OWN:
                assert made[name] == value, word


def test_the_fields_of_the_dataset_stay_as_they_are() -> None:
    """Question, golden answer and every other field, keys included: answers are judged by them."""
    secrets = Secrets({"WORD": "postgres"})
    secrets.register(["WORD"])
    sample = {"id": "postgres", "question": "postgres?", "answer": "postgres", "postgres": [{"postgres": "postgres"}]}
    made = redacted(RESPONSE | {"sample": sample, "text": "postgres"}, secrets)
    assert (made["sample"], made["text"]) == (sample, "${WORD}")


@pytest.mark.parametrize(("value", "number"), [("12345678", 12345678), ("0012345", 12345), ("12.50", 12.5)])
def test_a_secret_that_comes_back_as_a_number_is_redacted(value: str, number: float) -> None:
    """In a tool's input; what keval counted stays a number, also the same one."""
    secrets = Secrets({"PIN": value})
    secrets.register(["PIN"])
    event = RESPONSE | {"turns": [CALL | {"input": {"pin": number, "other": True}}], "duration_ms": int(number)}
    made = redacted(event, secrets)
    assert made["turns"][0]["input"] == {"pin": "${PIN}", "other": True}
    assert made["duration_ms"] == int(number)


def test_what_came_from_outside_is_redacted_wherever_it_stands() -> None:
    """Texts, and keys of what the agent made up; fields, names and types of the same word stay."""
    secrets = Secrets({"WORD": "text"})
    secrets.register(["WORD"])
    made = redacted(RESPONSE, secrets)
    assert made["text"] == "${WORD}"
    (turn,) = made["turns"]
    assert (turn["input"], turn["result"], turn["server"]) == ({"${WORD}": "${WORD}"}, "${WORD}", "docs")


def test_keys_that_become_alike_lose_no_value() -> None:
    """A tool may be given a secret and the name of its variable as two keys: the later one is numbered."""
    secrets = Secrets({"API_KEY": "s3cret-key"})
    secrets.register(["API_KEY"])
    given_ = {"s3cret-key": 1, "${API_KEY}": 2, "other": {"is ${API_KEY}": 3, "is s3cret-key": 4}}
    (turn,) = redacted(RESPONSE | {"turns": [CALL | {"input": given_}]}, secrets)["turns"]
    assert turn["input"] == {
        "${API_KEY}": 1,
        "${API_KEY} (2)": 2,
        "other": {"is ${API_KEY}": 3, "is ${API_KEY} (2)": 4},
    }
    undeclared = redacted(RESPONSE | {"s3cret-key": 1, "${API_KEY}": 2}, secrets)
    assert (undeclared["${API_KEY}"], undeclared["${API_KEY} (2)"]) == (1, 2)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="${WORD}\0"), min_size=8))
def test_no_value_is_left_in_what_came_from_outside(value: str) -> None:
    """Not in a text, a tool's input, a key of it or an error."""
    secrets = Secrets({"WORD": value})
    secrets.register(["WORD"])
    turn = CALL | {"input": {value: [value]}, "result": value}
    made = redacted(RESPONSE | {"text": value, "turns": [turn], "sources": [value]}, secrets)
    assert value not in json.dumps([made["text"], made["turns"], made["sources"]], ensure_ascii=False)
    assert value not in redacted(failure_event(RESPONSE, message=value), secrets)["message"]
