"""A compiled type never accepts what its schema refuses, and a rule that has no type is not left out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import jsonschema_rs
import msgspec
import orjson
import pytest

from keval import schema
from keval.documents.event_checks import NotExpressibleError, is_day
from keval.documents.event_types import compiled

Rules = Mapping[str, Any]

TIME = schema.document("response")["$defs"]["time"]
TEXT, WHOLE, NOTHING = {"type": "string"}, {"type": "integer"}, {"type": "null"}


def closed(properties: Rules, required: list[str], **more: object) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": required, "additionalProperties": False, **more
    }  # fmt: skip


def kind(name: str, **properties: Rules) -> dict[str, Any]:
    """Return an object that is told by its type."""
    return closed({"type": {"type": "string", "const": name}, **properties}, ["type", *properties])


def told(name: str, reference: str) -> dict[str, Any]:
    return {
        "if": {"properties": {"type": {"const": name}}, "required": ["type"]}, "then": {"$ref": f"#/$defs/{reference}"}
    }  # fmt: skip


KINDS = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"enum": ["a", "b"]}},
    "allOf": [told("a", "first"), told("b", "second")],
}
PARTS = {"whole": WHOLE, "first": kind("a", x=TEXT), "second": kind("b", x=WHOLE), "itself": {"$ref": "#/$defs/itself"}}

EXPRESSIBLE: dict[str, Rules] = {
    "text": TEXT,
    "text with ends": {"type": "string", "minLength": 1, "maxLength": 3},
    "moment": TIME,
    "pattern": {"type": "string", "pattern": "^[a-c]{2}(b|c)$"},
    "moment or null": TIME | {"type": ["string", "null"]},
    "whole number": {"type": "integer", "minimum": 0, "maximum": 10},
    "any whole number": WHOLE,
    "number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "number or null": {"type": ["number", "null"], "minimum": -1e18, "maximum": 1e18},
    "huge number": {"type": "number", "minimum": 0, "maximum": 1e36},
    "yes or no": {"type": ["boolean", "null"]},
    "constant": {"const": 1},
    "one of": {"enum": ["a", "b"]},
    "list": {"type": "array", "items": WHOLE, "minItems": 1, "maxItems": 2},
    "list of anything or object": {"type": ["array", "object"]},
    "part": {"$ref": "#/$defs/whole", "description": "as it is"},
    "anything": {},
    "map": {"type": "object", "additionalProperties": WHOLE, "minProperties": 1, "propertyNames": {"enum": ["a", "b"]}},
    "map of named things": {"type": "object", "propertyNames": {"type": "string", "minLength": 1}},
    "open object": {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": TEXT, "b": {"type": ["string", "null"]}},
    },
    "open object of unknown things": {"type": "object", "required": ["a", "c"], "properties": {"a": TEXT}},
    "closed object": closed({"a": WHOLE, "b": TEXT}, ["a"]),
    "conditional": closed(
        {"a": {"type": ["string", "null"]}, "b": {"type": ["string", "null"], "minLength": 1}},
        ["a"],
        **{"if": {"properties": {"a": NOTHING}, "required": ["a"]}},
        then={"required": ["b"], "properties": {"b": TEXT}},
        **{"else": {"properties": {"b": NOTHING}}},
    ),
    "one or the other": closed({"a": WHOLE, "b": TEXT}, [], anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "told by its type": KINDS,
}

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 10, 11, 1.0, 0.5, 1.5, -0.5, 1e18, 1.1e18, 1e36, 1e37, 2**63, 2**64, -(2**63)),
    *("", "a", "ab", "aab", "aaab", "abc", "abcd", "ab\n", "b", "é", "😀😀😀", "1", "\u2028"),
    *("2026-11-20T11:00:00.123Z", "2026-02-29T11:00:00.123Z", "2024-02-29T11:00:00.123Z", "2026-11-20T11:00:00Z"),
    *([], [1], [1, 2], [1, 2, 3], ["a"], [None], [[]], [1.5], {}, {"a": 1}, {"b": 2}, {"a": "x"}, {"a": None}),
    *({"c": 1}, {"": 1}, {"a": 1, "b": "x"}, {"a": 1, "b": 1}, {"a": "x", "b": None}, {"a": "x", "b": None, "c": [{}]}),
    {"a": "x", "c": 1},
    *({"a": None, "b": "x"}, {"a": None, "b": ""}, {"a": None, "b": None}, {"a": 1, "b": "x", "c": 1}, {"b": "x"}),
    *({"type": "a", "x": "y"}, {"type": "a", "x": 1}, {"type": "b", "x": 1}, {"type": "c", "x": 1}, {"x": 1}),
    *({"type": "a"}, {"type": "a", "x": "y", "z": 1}, {"a": [[[[[[[[1]]]]]]]]}),
]


def holding(rules: Rules) -> dict[str, Any]:
    """Return the schema of an object that holds something."""
    return closed({"value": rules}, ["value"]) | {"$defs": PARTS}


@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_what_a_type_accepts_its_schema_accepts(name: str) -> None:
    """For each kind of rule: of many values, the type accepts only valid ones, and some of them."""
    document = holding(EXPRESSIBLE[name])
    is_valid = jsonschema_rs.validator_for(document, validate_formats=True).is_valid
    decode = msgspec.json.Decoder(compiled(document)).decode
    accepted = []
    for value in VALUES:
        line = orjson.dumps({"value": value}) if abs(value if isinstance(value, int) else 0) < 2**64 else b""
        try:
            decode(line)
        except msgspec.MsgspecError:
            continue
        accepted.append(value)
    assert accepted
    assert [value for value in accepted if not is_valid({"value": value})] == []


NOT_EXPRESSIBLE: dict[str, Rules] = {
    "a keyword of no type": {"minLength": 1},
    "a keyword that is not known": {"type": "integer", "multipleOf": 2},
    "items that differ": {"type": "array", "uniqueItems": True},
    "a choice of rules": {"oneOf": [TEXT, WHOLE]},
    "a rule that must not hold": {"type": "string", "not": {"const": "a"}},
    "a reference and more": {"$ref": "#/$defs/whole", "maximum": 1},
    "a part that holds itself": {"$ref": "#/$defs/itself"},
    "a pattern of a part of the text": {"type": "string", "pattern": "a"},
    "a pattern that Python reads in another way": {"type": "string", "pattern": r"^\d$"},
    "a set that Python reads in another way": {"type": "string", "pattern": "^[[:alpha:]]$"},
    "a format that is not known": TIME | {"format": "date"},
    "a moment of any form": {"type": "string", "format": "date-time"},
    "a constant that equals others": {"const": True},
    "a number that is no whole one": {"const": 1.5},
    "values of several types": {"enum": ["a", 1]},
    "an end that is no whole number": {"type": "integer", "minimum": 0.5},
    "an end beyond 64 bits": {"type": "integer", "minimum": 1e19},
    "a moment with a month of any number": TIME | {"pattern": TIME["pattern"].replace("(0[1-9]|1[0-2])", "[0-9]{2}")},
    "kinds of which each has more keys": KINDS | {"required": ["type", "y"]},
    "a rule about a key that allows anything": closed({"a": TEXT}, [], **{"if": {"properties": {"a": {}}}}),
    "a moment of a whole second": TIME | {"pattern": TIME["pattern"].replace("[0-9]{3}Z", "(000|999)Z")},
    "a moment in a list": {"type": "array", "items": TIME},
    "a key that Python cannot name": closed({"not": TEXT}, ["not"]),
    "a key that must be there and cannot": closed({"a": TEXT}, ["b"]),
    "keys by pattern": closed({}, [], patternProperties={"a": TEXT}),
    "a number of keys": closed({"a": TEXT}, [], minProperties=1),
    "an open object with a key that may be absent": {"type": "object", "required": [], "properties": {"a": TEXT}},
    "a condition about a key that is not described": closed({"a": TEXT}, [], **{"if": {"required": ["b"]}}),
    "a condition about a number": closed({"a": WHOLE}, [], **{"if": {"properties": {"a": WHOLE}}}),
    "kinds that are told by more than their type": KINDS | {"properties": {"type": {"enum": ["a", "b", "c"]}}},
}


@pytest.mark.parametrize("name", NOT_EXPRESSIBLE)
def test_a_rule_without_a_type_is_an_error(name: str) -> None:
    """What cannot be expressed exactly, or more strictly, is never left out."""
    with pytest.raises(NotExpressibleError):
        compiled(holding(NOT_EXPRESSIBLE[name]))


@pytest.mark.parametrize("name", schema.EVENT_TYPES)
def test_each_event_has_a_type(name: str) -> None:
    """All schemas of events can be expressed, so that no log is slow for its types."""
    compiled(schema.document(name))


def test_an_object_with_a_scale_has_its_scores_on_it() -> None:
    """A scale that has no extent, and a score outside of it, are refused, as no schema can."""
    number = {"type": ["number", "null"], "minimum": -10, "maximum": 10}
    ends = {"min": {"type": "number"}, "max": {"type": "number"}}
    decode = msgspec.json.Decoder(compiled(closed({"score": number, **ends}, ["score", "min", "max"]))).decode
    for scale in (b'"score":1,"min":1,"max":5', b'"score":5.0,"min":1,"max":5', b'"score":null,"min":0,"max":0.5'):
        decode(b"{" + scale + b"}")
    for scale in (b'"score":0,"min":1,"max":5', b'"score":5.5,"min":1,"max":5', b'"score":null,"min":1,"max":1.0'):
        with pytest.raises(msgspec.ValidationError):
            decode(b"{" + scale + b"}")


def test_a_day_is_one_of_the_calendar() -> None:
    """Whatever is written as a day: it is one exactly if the calendar has it and jsonschema-rs takes it."""
    is_moment = jsonschema_rs.validator_for({"format": "date-time"}, validate_formats=True).is_valid
    days = {(date(1896, 1, 1) + timedelta(number)).isoformat() for number in range(366 * 210)}
    for year in (1896, 1899, 1900, 2000, 2023, 2024, 2100):
        for month in range(1, 13):
            for day in range(1, 32):
                written = f"{year}-{month:02}-{day:02}"
                assert is_day(written) is (written in days) is is_moment(f"{written}T00:00:00.000Z")


def test_a_moment_is_taken_as_its_schema_takes_it() -> None:
    """Whatever stands in the place of any one of its characters, or is missing or too much, both say the same of it."""
    decode = msgspec.json.Decoder(compiled(closed({"time": TIME}, ["time"]))).decode
    is_valid = jsonschema_rs.validator_for(TIME, validate_formats=True).is_valid
    moments = ("2024-02-29T23:59:59.999Z", "1999-12-31T09:08:07.006Z", "2023-02-28T10:20:30.400Z")
    odd = [
        f"{m[:at]}{each}{m[at + 1 :]}"
        for m in moments
        for at in range(25)
        for each in (*"0123456789:.-TZz +", "", "00", "\n")
    ]

    for written in (*moments, *odd):
        try:
            decode(orjson.dumps({"time": written}))
            is_taken = True
        except msgspec.ValidationError:
            is_taken = False
        assert is_taken is is_valid(written), written
