import re
from pathlib import Path

import pytest
import yaml

from keval.errors import InputError
from keval.ids import JsonObject
from keval.judges import Metric, _rubrics


@pytest.fixture
def methodology() -> JsonObject:
    """Return keval's own rubric, to be broken at will."""
    return _rubrics.load(_rubrics.METHODOLOGY)


def said_of(rubric: object, folder: Path) -> str:
    """Return what is said of a rubric file that holds this."""
    path = folder / "rubric.yaml"
    path.write_text(yaml.safe_dump(rubric, sort_keys=False, width=1000), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        _rubrics.load(path)
    return str(caught.value).replace(str(path), "FILE")


def test_kevals_own_rubric_has_the_three_metrics_of_the_methodology(methodology: JsonObject) -> None:
    """Each goes from 1 to 5 and every score has its text."""
    assert [metric["name"] for metric in methodology["metrics"]] == [
        "factual_adherence",
        "completeness",
        "helpfulness_and_clarity",
    ]
    for metric in methodology["metrics"]:
        assert (metric["min"], metric["max"]) == (1, 5)
        assert list(metric["levels"]) == ["1", "2", "3", "4", "5"]


def test_the_system_prompt_holds_every_text_of_the_rubric(methodology: JsonObject) -> None:
    """Role, questions, notes and levels all reach the model, each level beside its score."""
    prompt = _rubrics.system_prompt(methodology)
    assert prompt.startswith(methodology["instructions"])
    for metric in methodology["metrics"]:
        assert metric["question"] in prompt
        assert metric.get("note", "") in prompt
        for score, text in metric["levels"].items():
            assert f"- {score}: {text}" in prompt
    assert "unverified claim" in prompt
    assert "Do not penalize the response for including additional context" in prompt


def test_the_reply_schema_asks_for_reasons_before_the_score() -> None:
    """The order of properties is the order of writing; nothing else is allowed, nothing is optional."""
    schema = _rubrics.reply_schema([Metric("tone", 0, 2)])
    assert list(schema["properties"]) == ["tone", "unverified_claims"]
    tone = schema["properties"]["tone"]
    assert list(tone["properties"]) == ["reasoning", "score"]
    assert tone["properties"]["score"] == {"type": "integer", "enum": [0, 1, 2]}
    for strict in (schema, tone):
        assert strict["required"] == list(strict["properties"])
        assert strict["additionalProperties"] is False


def test_everything_wrong_with_a_file_is_said_at_once(methodology: JsonObject, tmp_path: Path) -> None:
    """One line per problem, each with the file and the place in it."""
    first, second, third = methodology["metrics"]
    first["scale"] = 5
    del second["question"]
    third["levels"]["6"] = "Too good."
    del methodology["name"]
    assert re.sub(r"FILE:\d+", "FILE:LINE", said_of(methodology, tmp_path)).splitlines() == [
        "FILE:LINE: $: 'name' is missing",
        "FILE:LINE: $.metrics[0].scale: unknown key 'scale' (known: name, title, min, max, question, note, levels)",
        "FILE:LINE: $.metrics[1]: 'question' is missing",
        "FILE:LINE: $.metrics[2].levels['6']: '6' is not a score from 1 to 5",
    ]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("name", "Tone", "name: 'Tone' cannot be a metric's name"),
        ("name", "unverified_claims", "name: 'unverified_claims' cannot be a metric's name"),
        ("name", 3, "name: 3 cannot be a metric's name"),
        ("name", "completeness", "$.metrics[1].name: another metric is called 'completeness' too"),
        ("title", " ", "title: expected a text"),
        ("note", 1, "note: expected a text"),
        ("min", 1.5, "min and max must be whole numbers"),
        ("max", True, "min and max must be whole numbers"),
        ("max", 1, "max above min"),
        ("max", 1000, "at most 100 above it"),
        ("levels", ["bad", "good"], "levels: expected a mapping"),
        ("levels", {}, "levels: expected a mapping"),
        ("levels", {"1": "bad"}, "levels: 1 and 5, the ends of the scale, must be described"),
        ("levels", {"1": "bad", "5": ""}, "levels['5']: expected a text"),
        ("levels", {"01": "bad", "5": "good"}, "levels['01']: '01' is not a score from 1 to 5"),
    ],
)
def test_a_broken_metric_is_refused(
    key: str, value: object, said: str, methodology: JsonObject, tmp_path: Path
) -> None:
    """The message names the metric's place and what is wrong with it."""
    methodology["metrics"][0][key] = value
    assert said in said_of(methodology, tmp_path)


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        (None, "FILE:1: $: expected a mapping"),
        (["completeness"], "FILE:1: $: expected a mapping"),
        ({"name": "x", "instructions": "y", "metrics": []}, "$.metrics: expected a list of at least one metric"),
        ({"name": "x", "instructions": "y", "metrics": {"a": 1}}, "$.metrics: expected a list"),
        ({"name": "x", "instructions": "y", "metrics": ["a"]}, "$.metrics[0]: expected a mapping"),
        ({"name": "x", "instructions": 5, "metrics": ["a"]}, "$.instructions: expected a text"),
    ],
)
def test_a_file_of_another_shape_is_refused(rubric: object, said: str, tmp_path: Path) -> None:
    """An empty file, a list or a metric that is no mapping is named as what it is."""
    assert said in said_of(rubric, tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"name: [", b"name: \xff", b"name: !!python/object:os.system x", b"name: a\nname: b"]
)
def test_a_file_that_is_not_plain_yaml_is_refused(content: bytes, tmp_path: Path) -> None:
    """Broken YAML, other encodings, repeated keys and tags that would run code are named with their line."""
    path = tmp_path / "rubric.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"rubric\.yaml:\d+: "):
        _rubrics.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The message has the path that was looked for."""
    with pytest.raises(InputError, match=r"none\.yaml: No such file"):
        _rubrics.load(tmp_path / "none.yaml")
