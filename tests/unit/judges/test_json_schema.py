import json
from pathlib import Path
from typing import Any

import pytest

from keval.errors import KevalError
from keval.judges import Score
from keval.judges.json_schema import JsonSchema
from tests.cases import case, context

CITY: dict[str, Any] = {
    "type": "object",
    "required": ["city"],
    "additionalProperties": False,
    "properties": {"city": {"$ref": "#/$defs/name"}},
    "$defs": {"name": {"type": "string", "minLength": 1}},
}


async def score(text: str, judge: JsonSchema | None = None) -> Score:
    """Return the one score of a judgment."""
    judge = judge or JsonSchema(schema=CITY)
    return (await judge.judge(case(text), context(judge))).scores["json_schema"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"city": "Paris"}', None),
        ('\n{"city": "Paris"}\n', None),
        ('Here:\n```json\n{"city": "Paris"}\n```\nThat is all.', None),
        ('```\n{}\n```\nor better\n```\n{"city": "Paris"}\n```', None),
        ('{"city": ""}', "$.city: must not be empty"),
        ('{"city": 5}', "$.city: expected a string, found 5"),
        ("{}", "$: 'city' is missing"),
        ('{"city": "a", "city": "b"}', "$: the key 'city' stands twice"),
    ],
)
async def test_an_answer_passes_that_fits_the_schema(text: str, problem: str | None) -> None:
    """Whole or in its last fence; what does not fit is said with its place."""
    found = await score(text)
    assert (found.passed, found.score) == (problem is None, int(problem is None))
    assert (found.reasoning is None) == (problem is None)
    assert problem is None or problem.split(": ")[0] in (found.reasoning or "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [('{"a1": "x"}', None), ('{"a1": "y"}', "$.a1: 'y' is not x"), ('{"a1": 5}', "$.a1: expected a string, found 5")],
)
async def test_patterns_of_values_and_of_names_are_checked(text: str, problem: str | None) -> None:
    """As in any validator."""
    named = {"type": "string", "pattern": "^x", "description": "x"}
    assert (await score(text, JsonSchema(schema={"patternProperties": {"^a[0-9]$": named}}))).reasoning == problem


@pytest.mark.parametrize(
    ("number", "of", "passed"),
    [("0.29", 0.01, True), ("19.99", 0.01, True), ("0.3", 0.1, True), ("0.295", 0.01, False), ("1e308", 0.1, True)],
)
async def test_a_multiple_is_one_in_decimals(number: str, of: float, *, passed: bool) -> None:
    """As prices are written, however a processor holds them."""
    assert (await score(number, JsonSchema(schema={"multipleOf": of}))).passed is passed


@pytest.mark.parametrize(
    ("items", "passed"),
    [
        ('[1, true, "1", [1], {"a": 1}, null, {}]', True),
        ("[1, 1.0]", False),
        ('[{"a": [1], "b": 2}, {"b": 2, "a": [1.0]}]', False),
        (json.dumps([{"a": each} for each in range(5000)]), True),
    ],
)
async def test_items_are_unique_as_json_values(items: str, *, passed: bool) -> None:
    """And thousands of them are looked through at once."""
    assert (await score(items, JsonSchema(schema={"uniqueItems": True}))).passed is passed


async def test_what_is_no_json_does_not_pass() -> None:
    """The reason says so."""
    assert "not JSON" in ((await score("Paris")).reasoning or "")
    fenced = '```\n{"city": "Paris"}\n```'
    assert not (await score(fenced, JsonSchema(schema=CITY, fenced=False))).passed


async def test_the_schema_may_stand_in_a_file(tmp_path: Path) -> None:
    """Its content is what makes the judge, and a log has all of it."""
    path = tmp_path / "city.json"
    path.write_text(json.dumps(CITY), encoding="utf-8")
    judge = JsonSchema(schema=path)
    assert (await score('{"city": "Paris"}', judge)).passed
    assert judge.texts() == JsonSchema(schema=CITY).texts() == {"schema": CITY}
    path.unlink()
    rebuilt = JsonSchema.from_texts({"schema": path}, judge.texts(), judge.metrics)
    assert not (await score("{}", rebuilt)).passed


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        ("{", "is not JSON"),
        ("[]", "expected an object"),
        ('{"type": "text"}', "is not a JSON Schema"),
        ('{"$ref": "https://example.com/schema"}', "may refer to its own parts only"),
        ('{"$ref": "#/$defs/x"}', "refers to '#/\\$defs/x', which is not in it"),
        ('{"$ref": "#"}', "refers to '#' in a circle"),
    ],
)
def test_a_schema_that_is_none_is_refused(tmp_path: Path, content: str | None, problem: str) -> None:
    """Before anything is judged, and nothing is fetched."""
    path = tmp_path / "schema.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(KevalError, match=problem):
        JsonSchema(schema=path).texts()
