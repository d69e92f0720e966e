"""What is accepted fast is what is accepted slowly: shown on examples, on damaged lines, and on what keval writes."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import schema
from keval.documents import strict_json
from keval.documents.event_lines import MANY, accepted, checker, stand_as_written
from tests.builders import (
    failure_event,
    in_order,
    judge_failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
)

EXAMPLES = Path(__file__).parents[2] / "schemas"
EVENTS = (*schema.EVENT_TYPES, "event")


def is_accepted(line: bytes) -> bool:
    """Return whether a line is accepted, by itself; what is accepted among many others must be accepted so, too."""
    by_itself = accepted([line]) == 1
    assert by_itself or not stand_as_written(line + b"\n")
    return by_itself


def is_valid(line: bytes) -> bool:
    """Return what parsing and validating say of a line."""
    try:
        event = strict_json.parse(line)
    except strict_json.NotStrictError:
        return False
    return schema.event_problem(event) is None


def as_written(event: dict[str, Any]) -> bytes:
    """Return an event as keval writes it."""
    return orjson.dumps(in_order(event))


@cache
def valid_lines() -> tuple[bytes, ...]:
    """Return valid events of all types, with all that an event can hold."""
    files = [path for path in sorted(EXAMPLES.glob("*/valid/*.json")) if "may_be_floats" not in path.name]
    examples = [orjson.loads(path.read_bytes()) for path in files]
    examples = [each for each in examples if isinstance(each, dict) and each.get("type") in schema.EVENT_TYPES]
    call = {
        "type": "tool_call", "id": "c1", "name": "mcp__docs__search", "server": "docs", "input": {"a": [{"b": None}]},
        "result": "…\u2028😀\x00", "error": False, "duration_ms": 3,
    }  # fmt: skip
    response = response_event(
        turns=[{"type": "text", "text": 'a"\\\n\t\x7f/é'}, call, call | {"input": None, "result": None}],
        mcp={"docs": {"status": "connected", "offered": ["search"], "called": 1, "failed": 0}},
        sample=sample() | {"level": 2.5, "tags": ["x", {"y": [[]]}], "n": -(2**53), "small": 1e-7},
        orphaned_processes=["sleep"],
        failed_attempts=[{"kind": "timeout", "message": "", "cost_usd": 0, "usage": None, "duration_ms": None}],
    )
    score = {"score": None, "reasoning": None, "min": 0, "max": 1.0, "passed": None, "not_applicable": "no text"}
    made = [
        *(response, judgment_event(response), judgment_event(response, {"a": 1, "b": 5, "c": 2.5})),
        judgment_event(response, outcome={"found": [1]}, other_response_id="r2") | {"scores": {"m": score}},
        *(failure_event(response), judge_failure_event(response), failure_event(response, turns=[call], mcp={})),
        *(run_event(), run_event(mock=True, judges=[]), plan_event(["q1", "q2"])),
        *(sample_change_event(sample(), "answer"), retraction_event(response)),
    ]
    return tuple(as_written(event) for event in [*examples, *made])


@pytest.mark.parametrize("line", valid_lines(), ids=lambda line: line[:24].decode())
def test_each_type_of_event_is_accepted(line: bytes) -> None:
    """A valid event, written as keval writes it, needs no second look, whatever its type is."""
    assert is_valid(line)
    assert is_accepted(line)


def test_events_of_all_types_are_accepted_at_once() -> None:
    """Valid lines as keval writes them are accepted together, and not with anything between them, or without an end."""
    lines = b"".join(line + b"\n" for line in valid_lines())
    assert stand_as_written(lines)
    assert not stand_as_written(lines + b"\n")
    assert not stand_as_written(lines[:-1])
    assert not stand_as_written(lines.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("line", valid_lines(), ids=lambda line: line[:24].decode())
def test_lines_of_other_tools_are_accepted(line: bytes) -> None:
    """Spaces and another order of the fields, as other tools write them, cost no second look."""
    turned = dict(reversed(orjson.loads(line).items()))
    for other in (json.dumps(turned, ensure_ascii=False), json.dumps(turned, ensure_ascii=False, indent=None) + "\r"):
        assert is_valid(other.encode())
        assert is_accepted(other.encode())


@pytest.mark.parametrize(
    "twice",
    [
        '"k":1,"k":2',
        '"k":1,"k":"\\u003a"',
        '"k":1,"\\u006b":":"',
        '"k": 1 ,"k":"\\u003A"',
        '"k:":"a:b","k\\u003a":"::"',
    ],
)
def test_no_line_with_a_key_twice_is_accepted(twice: str) -> None:
    """A key that stands twice is found, also where a text makes up for its colon when the line is written again."""
    line = as_written(response_event() | {"sample": sample() | {"more": 0}}).decode()
    for key in (f'"more":{{{twice}}}', f'"more":0,{twice}'):
        doubled = line.replace('"more":0', key).encode()
        assert not is_valid(doubled)
        assert not is_accepted(doubled)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*valid/*.json")), ids=lambda path: path.stem)
def test_no_invalid_example_is_accepted(path: Path) -> None:
    """Of all examples of all schemas, none is accepted that the slow way refuses."""
    example = orjson.loads(path.read_bytes())
    line = orjson.dumps(example["instance"] if path.parent.name == "invalid" else example)
    assert is_valid(line) or not is_accepted(line)


ODD = [
    *(b"null", b"true", b"false", b"0", b"1", b"-1", b"-0", b"-0.0", b"0.0", b"1.0", b"1.5", b"1e0", b"1E2", b"1e-7"),
    *(b"1e400", b"-1e400", b"1e308", b"NaN", b"Infinity", b"01", b"1.", b".5", b"+1", b"0x1", b"2", b"3", b"5", b"7"),
    *(b"1000000000000", b"1000000000001", b"1000000000.0", b"1000000001", b"1e15", b"1000000000000001"),
    *(b"9007199254740991", b"9007199254740992", b"9223372036854775807", b"9223372036854775808", b"1e18", b"1e19"),
    *(b"18446744073709551615", b"18446744073709551616", b"1" + b"0" * 400, b"-" + b"9" * 40, b"0.1" + b"0" * 400),
    *(
        b'""',
        b'" "',
        b'"\\u0000"',
        b'"\\ud800"',
        b'"\\ud83d\\ude00"',
        b'"\\u00e9"',
        b'"\\/"',
        b'"\\u001f"',
        b'"\\u000a"',
    ),
    *(b'"\xe2\x80\xa8"', b'"\xf0\x9f\x98\x80"', b'"\xed\xa0\x80"', b'"\xff"', b'"\xc0\x80"', b'"\x01"', b'"\x7f"'),
    *(
        b'"1"',
        b'"null"',
        b'"response"',
        b'"text"',
        b'"tool_call"',
        b'"judge"',
        b'"generate"',
        b'"timeout"',
        b'"sample"',
    ),
    *(b'"2026-02-30T11:00:00.123Z"', b'"2024-02-29T11:00:00.123Z"', b'"2026-11-20T11:00:60.123Z"', b"'x'"),
    *(b'"2100-02-29T11:00:00.123Z"', b'"2026-11-20T24:00:00.123Z"', b'"2026-11-20T11:00:00.123Z\\n"', b'"2026-11-20"'),
    *(b'"2026-11-20t11:00:00.123z"', b'"2026-11-20T11:00:00.123+00:00"', b'"0026-11-20T11:00:00.123Z"'),
    *(
        b"[]",
        b"{}",
        b"[null]",
        b"[[]]",
        b'{"a":1}',
        b'{"a":1,"a":1}',
        b'{"a":1,"\\u0061":2}',
        b'{"":1}',
        b"[1,]",
        b"{,}",
    ),
    *(b'{"type":"text"}', b'{"type":"text","text":""}', b'{"text":"","type":"text"}', b'[{"type":"tool_call"}]'),
    *(b"[" * 7 + b"]" * 7, b"[" * 253 + b"]" * 253, b"[" * 300 + b"]" * 300, b"[" * 5000 + b"]" * 5000),
    b'{"a":' * 260 + b"1" + b"}" * 260,
]
"""Values at the ends of what is allowed, and texts that are no JSON, as a line has them."""


def containers(value: object) -> Iterator[dict[str, Any] | list[Any]]:
    """Yield every object and array in a value that is not empty."""
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers(inner)


MARK = "\ue000the place\ue000"
"""A text that stands where a value is to be put in as bytes."""


def put(event: Any, chance: random.Random, value: bytes) -> bytes:  # noqa: ANN401 - any JSON value
    """Return an event with a value somewhere, as bytes."""
    container = chance.choice([*containers(event)])
    place: Any = chance.choice([*container] if isinstance(container, dict) else range(len(container)))
    container[place] = MARK
    return orjson.dumps(event).replace(orjson.dumps(MARK), value)


def odd(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    return put(event, chance, chance.choice(ODD))


def moved(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    """Put something of the event, or of another one, elsewhere in it."""
    other = orjson.loads(chance.choice(valid_lines()))
    inner = chance.choice([*containers(chance.choice([event, other]))])
    return put(event, chance, orjson.dumps(chance.choice([*inner.values()] if isinstance(inner, dict) else inner)))


def dropped(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    container = chance.choice([*containers(event)])
    del container[chance.choice([*container] if isinstance(container, dict) else range(len(container)))]  # type: ignore[arg-type] # a key or an index
    return orjson.dumps(event)


def added(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    """Add a key that some event knows, or none."""
    container = chance.choice([each for each in containers(event) if isinstance(each, dict)])
    known = [
        key for each in containers(orjson.loads(chance.choice(valid_lines()))) if isinstance(each, dict) for key in each
    ]
    container[chance.choice([*known, "", "score", "extra", "not_applicable"])] = MARK
    return orjson.dumps(event).replace(orjson.dumps(MARK), chance.choice(ODD))


def doubled(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    """Let a key stand twice, with one value or two."""
    container = chance.choice([each for each in containers(event) if isinstance(each, dict)])
    key = chance.choice([*container])
    again = orjson.dumps({key: container[key]})[1:-1]
    container[key + MARK] = None
    if chance.random() < 0.5:
        again = orjson.dumps(key) + b":" + chance.choice(ODD)
    return orjson.dumps(event).replace(orjson.dumps(key + MARK) + b":null", again)


def reordered(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    container = chance.choice([each for each in containers(event) if isinstance(each, dict)])
    fields = [*container.items()]
    chance.shuffle(fields)
    container.clear()
    container.update(fields)
    return orjson.dumps(event)


def scaled(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    """Change a scale, or a score on it."""
    scales = [each for each in containers(event) if isinstance(each, dict) and "min" in each]
    if not scales:
        return odd(event, chance)
    scale = chance.choice(scales)
    scale[chance.choice(["min", "max", *({"score", "passed", "not_applicable"} & scale.keys())])] = MARK
    return orjson.dumps(event).replace(orjson.dumps(MARK), chance.choice([b"null", b"true", *ODD[3:24]]))


def damaged(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    """Change, add or take away bytes, whatever they mean."""
    line = bytearray(orjson.dumps(event))
    for _ in range(chance.randint(1, 2)):
        place = chance.randrange(len(line))
        piece = chance.choice(
            [b"", b" ", b"\t", b"\r", b"\x00", b"\\", b'"', b",", b"0", b"}", b"\xef\xbb\xbf", b"\x80"]
        )
        line[place : place + chance.randint(0, 2)] = chance.choice([piece, bytes([chance.randrange(256)])])
    return bytes(line)


def framed(event: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - any JSON value
    """Cut a line off, or put something before or behind it."""
    line = orjson.dumps(event)
    return chance.choice(
        [
            line[: chance.randrange(len(line))],
            line + b" ",
            line + b"\r",
            b"\xef\xbb\xbf" + line,
            b" " + line,
            line + line,
        ]
    )


NEVER_ACCEPTED = {"doubled"}
"""Ways to change a line after which it has a key twice."""

MUTATIONS: tuple[Callable[[Any, random.Random], bytes], ...] = (
    *(odd, odd, moved, dropped, added, doubled, reordered, scaled, damaged, damaged, framed),
)


def mutated(seed: int) -> tuple[str, bytes]:
    """Return a valid line that was changed in one or two places, and how."""
    chance = random.Random(seed)  # noqa: S311 - the same lines each time
    event = orjson.loads(chance.choice(valid_lines()))
    change = chance.choice(MUTATIONS)
    if chance.random() < 0.2:
        event = orjson.loads(dropped(event, chance)) or event
    return change.__name__, change(event, chance).replace(b"\n", b"\\n")


def wrongly_accepted(seeds: range) -> tuple[list[bytes], Counter[tuple[str, bool]]]:
    """Return the mutated lines that are accepted and not valid, and how many of each kind were accepted and not."""
    counts: Counter[tuple[str, bool]] = Counter()
    wrong = []
    for seed in seeds:
        kind, line = mutated(seed)
        is_fast = is_accepted(line)
        counts[kind, is_fast] += 1
        if is_fast and not is_valid(line):
            wrong.append(line)
    return wrong, counts


@pytest.mark.slow
def test_what_is_accepted_is_valid_after_10_000_mutations() -> None:
    """Fast and slow together refuse what the slow way refuses: of 10,000 damaged lines none is accepted wrongly."""
    wrong, counts = wrongly_accepted(range(10_000))
    assert wrong == []
    # Not because nothing is accepted: most ways to change a line leave some valid.
    assert {kind for kind, is_fast in counts if is_fast} == {each.__name__ for each in MUTATIONS} - NEVER_ACCEPTED
    assert {kind for kind, is_fast in counts if not is_fast} == {each.__name__ for each in MUTATIONS}


@pytest.mark.slow
def test_many_events_are_checked_as_strictly_as_few() -> None:
    """The types accept no damaged event that its schema refuses, and no number that JSON would make null."""
    problem_of = checker(MANY)
    damaged = [event for seed in range(300) if isinstance(event := loaded(mutated(seed)[1]), dict)]
    one_of_each = {event["type"]: event for event in map(loaded, valid_lines())}.values()
    odd = [changed for event in one_of_each for changed in with_numbers_that_json_has_not(event)]
    problems = {None: 0, "some": 0}
    for event in (*one_of_each, *damaged, *odd):
        found = problem_of(event)
        assert (found is None) == (schema.event_problem(event) is None), event
        problems[None if found is None else "some"] += 1
    assert min(problems.values()) > 50


def loaded(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return what stands in a line, None if that is no JSON."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def with_numbers_that_json_has_not(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an event with another number in each place that has one or none."""
    for name, value in event.items():
        if value is None or isinstance(value, int | float):
            yield from (event | {name: odd} for odd in (math.nan, math.inf, (1,)))


@pytest.mark.slow
def test_what_is_accepted_is_valid_after_many_mutations() -> None:
    """The same of 200,000 other damaged lines."""
    wrong, _ = wrongly_accepted(range(10_000, 210_000))
    assert wrong == []


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.booleans(), st.sampled_from([None, (",", ":")]))
def test_a_value_that_may_be_anything_is_read_as_strictly(
    value: Any,  # noqa: ANN401 - any JSON value
    ascii_only: bool,
    separators: tuple[str, str] | None,
) -> None:
    """Whatever a sample holds and however it is written: what is accepted is valid."""
    event = response_event() | {"sample": sample() | {"more": value}}
    line = json.dumps(event, ensure_ascii=ascii_only, separators=separators).encode()
    assert is_valid(line) or not is_accepted(line)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(-1e15, 1e15) | TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=3,
    )
)
def test_what_a_sample_may_hold_is_accepted(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Values of a dataset need no second look, but for numbers beyond 10^15 and great depth."""
    assert is_accepted(as_written(response_event() | {"sample": sample() | {"more": value}}))


def test_the_first_line_that_is_not_accepted_is_found_from_any_place() -> None:
    """The answer is a place in the list that was given, its end if nothing is left to be looked at."""
    valid = as_written(response_event())
    lines = [valid, b"", valid, valid, b"{"]
    assert [accepted(lines, first) for first in range(6)] == [1, 1, 4, 4, 4, 5]
