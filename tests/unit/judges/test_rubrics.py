import json
import re
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.judges import _rubrics


@pytest.fixture
def methodology() -> JsonObject:
    """Return keval's own rubric, to be broken at will."""
    return _rubrics.load(_rubrics.METHODOLOGY)


CLAIMS = "factual_claims"


def said_of(rubric: object, folder: Path) -> str:
    """Return what is said of a rubric file that holds this."""
    path = folder / "rubric.yaml"
    path.write_text(json.dumps(rubric, indent=1), encoding="utf-8")
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


def test_everything_wrong_with_a_file_is_said_at_once(methodology: JsonObject, tmp_path: Path) -> None:
    """One line per problem, each with the file and the place in it."""
    first, second, third = methodology["metrics"]
    first["scale"] = 5
    del second["question"]
    third["levels"]["6"] = "Too good."
    del methodology["name"]
    assert re.sub(r"FILE:\d+", "FILE:LINE", said_of(methodology, tmp_path)).splitlines() == [
        "FILE:LINE: $: 'name' is missing",
        f"FILE:LINE: $.metrics[0].scale: unknown key 'scale' (known: {', '.join(_rubrics.METRIC_KEYS)})",
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
        ("type", "binary", "type: 'binary' is not one of ordinal, continuous"),
        ("pass_from", 6, "pass_from: expected a score from 1 to 5"),
        ("pass_from", "4", "pass_from: expected a score from 1 to 5"),
        ("lists", {}, "lists: expected a mapping from the names of lists"),
        ("lists", {"Right": "x"}, "lists.Right: 'Right' cannot be a list's name"),
        ("lists", {"score": "x"}, "lists.score: 'score' cannot be a list's name"),
        ("lists", {"right": ""}, "lists.right: expected a text"),
        ("share", {"for": [], "against": []}, "lists: expected a mapping from the names of lists"),
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
        ({"name": "x", "instructions": "y", "gives": ["question"], "metrics": []}, "$.gives: expected a list of"),
        ({"name": "x", "instructions": "y", "gives": ["answer", "id"], "metrics": []}, "$.gives: expected a list of"),
        ({"name": "x", "instructions": 5, "metrics": ["a"]}, "$.instructions: expected a text"),
    ],
)
def test_a_file_of_another_shape_is_refused(rubric: object, said: str, tmp_path: Path) -> None:
    """An empty file, a list or a metric that is no mapping is named as what it is."""
    assert said in said_of(rubric, tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"min": 1}, "min and max must be numbers"),
        ({"max": True}, "min and max must be numbers"),
        ({"levels": {"0": "bad", "0.5 to 0.7": "good"}}, "0 and 1, the ends of the scale, must be described"),
        ({"levels": {"0 to 1": "any", "0.5 to 1.5": "good"}}, "'0.5 to 1.5' is not a score from 0 to 1"),
        ({"levels": {"0 to 1": "any", "0.9 to 0.1": "good"}}, "'0.9 to 0.1' is not a score from 0 to 1"),
        ({"levels": {"0 to 1": "any", "--": "good"}}, "'--' is not a score from 0 to 1"),
        ({"share": {"for": ["other"], "against": []}}, "share.for: expected a list of the metric's lists"),
        ({"share": {"for": []}}, "share: 'against' is missing"),
        ({"share": {"for": [], "against": [CLAIMS]}}, "share.for: expected at least one of the metric's lists"),
        ({"share": {"for": [CLAIMS, CLAIMS], "against": []}}, f"share.for: {CLAIMS!r} counts already"),
        ({"share": {"for": [CLAIMS], "against": [CLAIMS]}}, f"share.against: {CLAIMS!r} counts already"),
        ({"type": "ordinal"}, "share: only a metric of the type continuous can be a share"),
        ({"share": ["right"]}, "share: expected a mapping"),
    ],
)
def test_a_broken_continuous_metric_is_refused(change: dict[str, object], said: str, tmp_path: Path) -> None:
    """Its levels may be ranges, within the scale and up to both ends."""
    rubric = _rubrics.load(_rubrics.shipped()["factuality"])
    rubric["metrics"][0] |= change
    assert said in said_of(rubric, tmp_path)


@pytest.mark.parametrize("name", _rubrics.shipped())
def test_each_shipped_rubric_is_called_like_its_file_and_says_what_it_is_for(name: str) -> None:
    """It is chosen by that name, and listed with that sentence."""
    rubric = _rubrics.load(_rubrics.shipped()[name])
    assert rubric["name"] == name
    assert rubric["summary"].endswith(".")


def test_the_template_of_criteria_is_no_rubric_to_choose() -> None:
    """Its one metric has no question of its own."""
    assert len(_rubrics.load(_rubrics.CRITERIA)["metrics"]) == 1
    assert "custom_criteria" not in _rubrics.shipped()


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
