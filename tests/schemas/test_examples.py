"""Every schema says what it means: files of examples, and the two validators, agree with it.

`<schema>/valid/*.json` are instances; `<schema>/invalid/*.json` hold an `instance` with one fault
and the `problem` that people are told. A new file is picked up by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from keval import schema

FOLDER = Path(__file__).parent
VALID = sorted(FOLDER.glob("*/valid/*.json"))
INVALID = sorted(FOLDER.glob("*/invalid/*.json"))
EVENTS = {*schema.EVENT_TYPES, "event"}


def _name(path: Path) -> str:
    return path.parent.parent.name


def _identifier(path: Path) -> str:
    return str(path.relative_to(FOLDER).with_suffix(""))


def _read(path: Path) -> Any:  # noqa: ANN401 - any JSON value
    return orjson.loads(path.read_bytes())


def _instance(path: Path) -> Any:  # noqa: ANN401 - any JSON value
    return _read(path)["instance"] if path in INVALID else _read(path)


def _told(name: str, instance: object) -> list[str]:
    """Return what people are told of an instance."""
    if name in EVENTS:
        problem = schema.event_problem(instance)
        return [] if problem is None else [problem]
    return [f"{problem.path}: {problem.message}" for problem in schema.problems(name, instance)]


@pytest.mark.parametrize("path", VALID, ids=_identifier)
def test_a_valid_example_is_accepted(path: Path) -> None:
    """Nothing is told of a valid instance."""
    assert _told(_name(path), _read(path)) == []


@pytest.mark.parametrize("path", INVALID, ids=_identifier)
def test_an_invalid_example_is_refused_with_its_message(path: Path) -> None:
    """An instance with one fault is refused with the one message that its file expects; `…` stands for any text."""
    example = _read(path)
    (told,) = _told(_name(path), example["instance"])
    expected = ".*".join(re.escape(part) for part in example["problem"].split("…"))
    assert re.fullmatch(expected, told), told


@pytest.mark.parametrize("name", schema.names())
def test_every_schema_has_examples(name: str) -> None:
    """Each schema has at least three valid and four invalid examples."""
    assert len(list((FOLDER / name).glob("valid/*.json"))) >= 3
    assert len(list((FOLDER / name).glob("invalid/*.json"))) >= 4


FILES = [*schema.names(), "parts"]


@pytest.mark.parametrize("name", FILES)
def test_what_may_not_be_is_said_in_words(name: str) -> None:
    """Each `not` has the description that people are told: of a fault that has no words nothing could be said."""

    def refusals(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
        if isinstance(value, dict):
            yield from ([value["not"]] if isinstance(value.get("not"), dict) else [])
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from refusals(each)

    assert all(each.get("description") for each in refusals(orjson.loads(schema.text(name))))


PARTS = orjson.loads(schema.text("parts"))["$defs"]


@pytest.mark.parametrize("name", FILES)
def test_every_schema_is_a_valid_schema(name: str) -> None:
    """A schema is valid draft 2020-12, and is called as its file is."""
    written = orjson.loads(schema.text(name))
    Draft202012Validator.check_schema(written)
    assert written["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert (written["$id"], written["title"]) == (f"urn:keval:schema:{name}", name)
    assert written["description"]


def _subschemas(where: str, node: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any part of a schema
    """Yield a schema and all in it, each with its place; `if` and `not` only ask, they describe nothing."""
    yield where, node
    for keyword in ("properties", "$defs"):
        for key, value in node.get(keyword, {}).items():
            yield from _subschemas(f"{where}.{key}", value)
    for keyword in ("then", "items", "additionalProperties", "propertyNames"):
        if isinstance(node.get(keyword), dict):
            yield from _subschemas(f"{where}.{keyword}", node[keyword])
    for number, branch in enumerate(node.get("allOf", [])):
        yield from _subschemas(f"{where}[{number}]", branch)


@pytest.mark.parametrize("name", FILES)
def test_every_property_is_described(name: str) -> None:
    """Each property and each shared part has a description, from which the docs are made.

    A property that is a part and no more has that of the part. A `then` that narrows a property described outside of
    it need not describe it again.
    """
    bare = [
        f"{where}.{key}"
        for where, node in _subschemas(name, orjson.loads(schema.text(name)))
        for key, value in {**node.get("properties", {}), **node.get("$defs", {})}.items()
        if not value.keys() & {"description", "$ref"}
        and ("additionalProperties" in node or not where.endswith(".then"))
    ]
    assert bare == []


@pytest.mark.parametrize("name", FILES)
def test_every_pattern_says_in_words_what_it_allows(name: str) -> None:
    """Each pattern stands beside a description that completes the sentence `'x' is not …`."""
    for where, node in _subschemas(name, orjson.loads(schema.text(name))):
        if "pattern" in node:
            assert node["description"].startswith("a "), where


def _words(rules: Any) -> str:  # noqa: ANN401 - any part of a schema
    """Return rules as text, whatever the order of their keys."""
    return orjson.dumps(rules, option=orjson.OPT_SORT_KEYS).decode()


def test_what_several_schemas_have_stands_in_one_place() -> None:
    """No rules of three keys or more stand in two schemas, or twice in one: they are a part, which both refer to."""
    seen: dict[str, str] = {}
    twice = []
    for name in FILES:
        for where, rules in _subschemas(name, orjson.loads(schema.text(name))):
            if len(rules.keys() - {"default"}) > 2 and seen.setdefault(_words(rules), where) != where:
                twice.append(f"{where} is {seen[_words(rules)]}")
    assert not twice, "\n".join(twice)


def test_each_part_is_referred_to_and_named_once() -> None:
    """No part is left over, and no schema gives the name of a part to something of its own."""
    used = {part for name in schema.names() for part in schema.document(name)["$defs"]}
    assert set(PARTS) <= used
    own = {part for name in schema.names() for part in orjson.loads(schema.text(name)).get("$defs", ())}
    assert not own & set(PARTS)


@pytest.mark.slow
def test_the_files_as_they_are_written_mean_what_keval_checks() -> None:
    """Both validators, given all files, resolve each $ref without a network, and find what keval finds."""
    resources = {f"urn:keval:schema:{name}": orjson.loads(schema.text(name)) for name in FILES}
    registry = jsonschema_rs.Registry([*resources.items()])
    referenced: Registry[Any] = Registry().with_contents(resources.items())
    for path in VALID + INVALID:
        name, instance = _name(path), _instance(path)
        written = resources[f"urn:keval:schema:{name}"]
        fast = jsonschema_rs.validator_for(written, registry=registry, validate_formats=True)
        assert fast.is_valid(instance) is schema.is_valid(name, instance), path
        slow = Draft202012Validator(written, registry=referenced)
        # By itself jsonschema allows a little more: `$` also before a last newline, and formats that it does not know.
        assert slow.is_valid(instance) or path in INVALID, path


def test_every_type_of_event_is_dispatched() -> None:
    """The schema of any event knows each type that has a schema, and no other."""
    branches = orjson.loads(schema.text("event"))["allOf"]
    dispatched = {branch["if"]["properties"]["type"]["const"]: branch["then"]["$ref"] for branch in branches}
    assert dispatched == {name: f"urn:keval:schema:{name}" for name in schema.EVENT_TYPES}
    assert set(schema.names()) == {*EVENTS, "adapter", "config", "import", "judge", "sample"}


def _validators_agree(name: str, instance: object) -> bool:
    return schema.is_valid(name, instance) is not bool(schema.problems(name, instance))


@pytest.mark.parametrize("path", VALID + INVALID, ids=_identifier)
def test_both_validators_agree_on_an_example(path: Path) -> None:
    """What jsonschema-rs refuses, and nothing else, jsonschema can explain."""
    assert _validators_agree(_name(path), _instance(path))


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from([*schema.EVENT_TYPES, "text", "judge", "stdio", "2026-11-20T11:00:00.123Z", " \n", "\u2028", 1.0])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


def _containers(value: object) -> Iterator[dict[str, Any] | list[Any]]:
    """Yield every object and array in a value that is not empty."""
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _containers(inner)


@st.composite
def _mutated(draw: st.DrawFn) -> tuple[str, object]:
    """Draw an example in which one key or item was dropped, added or replaced, once or twice."""
    path = draw(st.sampled_from(VALID))
    instance = _read(path)
    for _ in range(draw(st.integers(1, 2))):
        containers = list(_containers(instance))
        if not containers:
            break
        container = draw(st.sampled_from(containers))
        places: list[Any] = list(container) if isinstance(container, dict) else list(range(len(container)))
        place = draw(st.sampled_from(places))
        match draw(st.sampled_from(["drop", "add", "replace"])):
            case "drop":
                del container[place]
            case "add" if isinstance(container, dict):
                container[draw(st.sampled_from(["score", "type", "mock"]) | st.text(max_size=4))] = draw(VALUES)
            case _:
                container[place] = draw(VALUES)
    return _name(path), instance


@given(_mutated())
def test_both_validators_agree_on_what_is_damaged(mutated: tuple[str, object]) -> None:
    """They agree on examples with keys dropped, added or replaced, so no refusal is without words."""
    name, instance = mutated
    assert _validators_agree(name, instance)


@given(_mutated())
def test_an_event_is_refused_exactly_if_it_breaks_its_schema_or_its_scale(mutated: tuple[str, object]) -> None:
    """The fast path by type says of any damaged event what the schema of all events says."""
    name, event = mutated
    if name not in EVENTS:
        return
    problem = schema.event_problem(event)
    told = [f"{each.path}: {each.message}" for each in schema.problems("event", event)]
    if told:
        assert problem in told
    else:
        assert problem is None or problem.startswith(("$.scores", "$.judges", "$.max"))
